"""The shared library: its structs, its calls, and its failures as exceptions.

Everything here mirrors tandem.h; `tests/python/test_package_library.py` compares the sizes and the names with the header.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_size_t,
                    c_uint32, c_uint64, c_void_p)
from pathlib import Path

__all__ = ["lib", "Error", "check"]


def _find() -> str:
    given = os.environ.get("TANDEM_LIBRARY")
    if given:
        return given
    inside = Path(__file__).parent / "libtandem.so"
    if inside.exists():
        return str(inside)
    raise ImportError("tandem has no shared library: the package was not installed (pip install .), and "
                      "TANDEM_LIBRARY does not name a libtandem.so")


lib = ctypes.CDLL(_find())

# Failures.

STATUS = ("OK", "NO_MEMORY", "INVALID", "USAGE", "NOT_FOUND", "IO", "FORMAT", "CORRUPT", "LIMIT", "UNSUPPORTED",
          "CANCELLED", "DEVICE", "VERIFY", "INTERNAL")
RESOURCES = (None, "session_memory", "memory", "system_memory", "device_memory", "device_edges", "pinned_memory",
             "threads", "files", "disk")


class Error(Exception):
    """A call of the library failed.

    `status` is the library's code ("NO_MEMORY"), `message` its words. Where a resource was too small, `resource` names
    it ("memory", "device_memory", "disk", ...), `needed` and `allowed` are its bytes (0: unknown), `minimum_known` says
    that `needed` is about enough for the whole call, `device` is the GPU, and `option` the argument that would change
    the outcome. `topics` are the programs and engines whose settings were violated.
    """

    status = "INTERNAL"

    def __init__(self, message: str = "", *, resource=None, needed=0, allowed=0, minimum_known=False, device=None,
                 option=None, topics=()):
        super().__init__(message)
        self.message = message
        self.resource, self.needed, self.allowed = resource, needed, allowed
        self.minimum_known, self.device, self.option, self.topics = minimum_known, device, option, tuple(topics)

    def __str__(self) -> str:
        return self.message


class NoMemory(Error, MemoryError):
    """Out of memory, or over the memory budget."""
    status = "NO_MEMORY"


class Invalid(Error, ValueError):
    """An invalid argument."""
    status = "INVALID"


class Usage(Error, ValueError):
    """A request that cannot be met: unknown names, arguments that contradict each other."""
    status = "USAGE"


class NotFound(Error, LookupError):
    """There is no such vertex, program, engine or file."""
    status = "NOT_FOUND"


class InputOutput(Error, OSError):
    """Reading or writing failed."""
    status = "IO"


class Format(Error, ValueError):
    """Malformed input."""
    status = "FORMAT"


class Corrupt(Error, ValueError):
    """A corrupt file."""
    status = "CORRUPT"


class Limit(Error, OverflowError):
    """Beyond a limit of Tandem."""
    status = "LIMIT"


class Unsupported(Error, NotImplementedError):
    """Not supported."""
    status = "UNSUPPORTED"


class Cancelled(Error):
    """The call was cancelled."""
    status = "CANCELLED"


class Device(Error, RuntimeError):
    """A device failed."""
    status = "DEVICE"


class Verify(Error, AssertionError):
    """A result does not fulfil a claim of its program."""
    status = "VERIFY"


class Internal(Error, RuntimeError):
    """A defect of Tandem."""
    status = "INTERNAL"


class Forked(Error, RuntimeError):
    """The process was forked, and what it inherited cannot be used."""
    status = "FORKED"


EXCEPTIONS = {cls.status: cls for cls in (NoMemory, Invalid, Usage, NotFound, InputOutput, Format, Corrupt, Limit,
                                          Unsupported, Cancelled, Device, Verify, Internal)}

# Structs. A struct that begins with its size is made by `sized`.


class Sized(Structure):
    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class Refusal(Structure):
    _fields_ = [("resource", c_int), ("needed", c_uint64), ("allowed", c_uint64), ("minimum_known", c_bool),
                ("device", c_char * 48), ("option", c_char * 24), ("topics", c_char * 64)]


class OptionName(Structure):
    _fields_ = [("option", c_char_p), ("name", c_char_p)]


class SessionOptions(Sized):
    _fields_ = [("size", c_size_t), ("threads", c_int), ("names", POINTER(OptionName))]


class GraphOptions(Sized):
    _fields_ = [("size", c_size_t), ("format", c_char_p), ("symmetrize", c_bool), ("dedup", c_bool),
                ("drop_loops", c_bool), ("drop_weights", c_bool), ("weights", c_char_p), ("weight_seed", c_uint64),
                ("edges", c_int), ("out_only", c_bool), ("check", c_bool), ("columns", c_char_p)]


class Array(Structure):
    _fields_ = [("data", c_void_p), ("type", c_int)]


class EdgeArrays(Sized):
    _fields_ = [("size", c_size_t), ("count", c_uint64), ("sources", Array), ("targets", Array), ("weights", Array),
                ("vertices", c_uint64)]


RELEASE = CFUNCTYPE(None, c_void_p)


class Csr(Sized):
    _fields_ = [("size", c_size_t), ("vertices", c_uint64), ("edges", c_uint64), ("offsets", Array),
                ("targets", Array), ("weights", Array), ("release", RELEASE), ("context", c_void_p)]


class GraphParts(Sized):
    _fields_ = [("size", c_size_t), ("offsets", c_void_p), ("targets", c_void_p), ("weights", Array),
                ("in_offsets", c_void_p), ("in_targets", c_void_p), ("in_weights", Array), ("ids", c_void_p),
                ("first_id", c_uint64), ("borrows_offsets", c_bool), ("borrows_targets", c_bool),
                ("borrows_weights", c_bool)]


class ProgramFacts(Sized):
    _fields_ = [("size", c_size_t), ("result", c_char_p), ("groups", c_bool), ("needs_source", c_bool),
                ("takes_source", c_bool), ("gives_parents", c_bool), ("asynchronous", c_bool), ("measured", c_bool),
                ("uses_weights", c_bool), ("needs_weights", c_bool), ("positive_weights", c_bool),
                ("non_negative_weights", c_bool), ("iterations", c_uint32), ("tolerance", c_double),
                ("edges", c_char_p)]


class SettingFacts(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("help", c_char_p), ("choices", c_char_p), ("text", c_bool),
                ("whole", c_bool), ("lowest", c_double), ("highest", c_double), ("fallback", c_char * 64)]


class EngineFacts(Sized):
    _fields_ = [("size", c_size_t), ("summary", c_char_p), ("device", c_char_p), ("uses_gpu", c_bool),
                ("from_disk", c_bool), ("several_gpus", c_bool), ("limits_edges", c_bool)]


class Iteration(Structure):
    _fields_ = [("number", c_uint32), ("direction", c_char_p), ("active_vertices", c_uint64),
                ("active_edges", c_uint64), ("edges", c_uint64), ("change", c_double), ("start", c_double),
                ("seconds", c_double)]


ITERATION_FN = CFUNCTYPE(c_bool, c_void_p, POINTER(Iteration))
BEGIN_FN = CFUNCTYPE(None, c_void_p)


class Request(Sized):
    _fields_ = [("size", c_size_t), ("has_source", c_bool), ("has_iterations", c_bool), ("has_tolerance", c_bool),
                ("source", c_uint64), ("iterations", c_uint32), ("tolerance", c_double), ("mode", c_int),
                ("parents", c_bool), ("engine", c_char_p), ("settings", POINTER(c_char_p)),
                ("progress", ITERATION_FN), ("progress_context", c_void_p), ("devices", c_char_p),
                ("gpu_memory", c_uint64), ("gpu_edges", c_double), ("checkpoint", c_char_p),
                ("checkpoint_every", c_uint32), ("resume", c_char_p), ("traces", c_bool), ("begins", BEGIN_FN),
                ("source_name", c_char_p), ("sources", POINTER(c_uint64)), ("source_count", c_uint64),
                ("runs", c_uint64)]


class PlanMemory(Sized):
    _fields_ = [("size", c_size_t), ("place", c_char_p), ("graph", c_uint64), ("program", c_uint64),
                ("emulated", c_uint64), ("free", c_uint64), ("fits", c_bool)]


class PlanEstimate(Sized):
    _fields_ = [("size", c_size_t), ("engine", c_char_p), ("chosen", c_bool), ("refusal", c_char_p),
                ("seconds", c_double), ("start", c_double), ("load", c_double), ("open", c_double),
                ("plan", c_double), ("prepare", c_double), ("processing", c_double), ("finish", c_double),
                ("host_graph", c_uint64), ("host_program", c_uint64), ("device", c_uint64), ("measured", c_bool)]


class DeviceRow(Sized):
    _fields_ = [("size", c_size_t), ("device", c_char_p), ("graph", c_uint64), ("program", c_uint64),
                ("free", c_uint64), ("peak", c_uint64), ("edges", c_uint64), ("busy_seconds", c_double),
                ("bytes_in", c_uint64), ("bytes_out", c_uint64), ("launches", c_uint64)]


class ResultFacts(Sized):
    _fields_ = [("size", c_size_t), ("program", c_char_p), ("engine", c_char_p), ("device", c_char_p),
                ("tolerance", c_double), ("final_change", c_double), ("prepare_seconds", c_double),
                ("device_seconds", c_double), ("launches", c_uint64), ("device_peak", c_uint64),
                ("first_row", c_uint32), ("rows", c_uint32), ("disk_method", c_char_p), ("disk_bytes", c_uint64),
                ("disk_reads", c_uint64), ("page_hits", c_uint64), ("page_misses", c_uint64),
                ("pages_by_blocks", c_uint64), ("disk_wait_seconds", c_double), ("disk_ratio", c_double),
                ("checkpoint_seconds", c_double), ("checkpoint_waited", c_double),
                ("checkpoint_waited_last", c_double), ("open_seconds", c_double),
                ("finish_seconds", c_double)]


class BatchFacts(Sized):
    _fields_ = [("size", c_size_t), ("sources", c_uint64), ("done", c_uint64), ("at_once", c_uint32),
                ("searches", c_uint64), ("edges_processed", c_uint64), ("words", c_uint64),
                ("prepare_seconds", c_double), ("seconds", c_double), ("finish_seconds", c_double)]


class PageReport(Sized):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("json", c_char_p), ("bytes", c_uint64)]


class Summary(Sized):
    _fields_ = [("size", c_size_t), ("reached", c_uint64), ("lowest", c_double), ("highest", c_double),
                ("sum", c_double), ("groups", c_uint64), ("largest", c_uint64), ("digest", c_uint64)]


# Calls: name, what it returns, what it takes. `status` calls are checked by `check`.

P, STATUS_CODE, TEXT = c_void_p, c_int, c_char_p
SIGNATURES = {
    "td_version": (TEXT, []),
    "td_last_message": (TEXT, []),
    "td_last_refusal": (POINTER(Refusal), []),
    "td_memory_held": (c_uint64, []),
    "td_memory_peak": (c_uint64, []),
    "td_memory_restart_peak": (None, []),
    "td_session_open": (STATUS_CODE, [POINTER(SessionOptions), POINTER(P)]),
    "td_session_destroy": (None, [P]),
    "td_session_threads": (c_int, [P]),
    "td_session_set_budget": (STATUS_CODE, [P, c_uint64]),
    "td_session_memory": (STATUS_CODE, [P, POINTER(c_uint64), POINTER(c_uint64)]),
    "td_session_cancel": (None, [P]),
    "td_session_cancel_clear": (None, [P]),
    "td_graph_open": (STATUS_CODE, [P, TEXT, POINTER(GraphOptions), POINTER(P)]),
    "td_graph_from_arrays": (STATUS_CODE, [P, POINTER(EdgeArrays), POINTER(GraphOptions), POINTER(P)]),
    "td_graph_from_csr": (STATUS_CODE, [P, POINTER(Csr), POINTER(GraphOptions), POINTER(P)]),
    "td_graph_reversed": (STATUS_CODE, [P, P, POINTER(P)]),
    "td_graph_describe_parts": (STATUS_CODE, [P, POINTER(GraphParts)]),
    "td_graph_save": (STATUS_CODE, [P, P, TEXT, TEXT]),
    "td_graph_destroy": (None, [P]),
    "td_graph_vertices": (c_uint32, [P]),
    "td_graph_edges": (c_uint64, [P]),
    "td_graph_symmetric": (c_bool, [P]),
    "td_graph_weights": (TEXT, [P]),
    "td_graph_weight_range": (c_bool, [P, POINTER(c_double), POINTER(c_double)]),
    "td_graph_vertex_id": (c_uint64, [P, c_uint32]),
    "td_graph_find": (STATUS_CODE, [P, c_uint64, POINTER(c_uint32)]),
    "td_graph_on_disk": (c_bool, [P]),
    "td_graph_degree": (c_uint64, [P, c_uint32]),
    "td_graph_read_targets": (STATUS_CODE, [P, c_uint32, P]),
    "td_program_name": (TEXT, [c_int]),
    "td_program_summary": (TEXT, [TEXT]),
    "td_program_describe": (STATUS_CODE, [TEXT, POINTER(ProgramFacts)]),
    "td_engine_name": (TEXT, [c_int]),
    "td_engine_describe": (STATUS_CODE, [TEXT, POINTER(EngineFacts)]),
    "td_setting_describe": (STATUS_CODE, [TEXT, c_int, POINTER(SettingFacts)]),
    "td_session_plan": (STATUS_CODE, [P, P, TEXT, POINTER(Request), POINTER(P)]),
    "td_plan_run": (STATUS_CODE, [P, P, POINTER(P)]),
    "td_plan_destroy": (None, [P]),
    "td_plan_engine": (TEXT, [P]),
    "td_plan_why": (TEXT, [P]),
    "td_plan_fits": (c_bool, [P]),
    "td_plan_memory_row": (STATUS_CODE, [P, c_int, POINTER(PlanMemory)]),
    "td_plan_device_row": (STATUS_CODE, [P, c_int, POINTER(DeviceRow)]),
    "td_plan_counter": (c_uint64, [P, TEXT]),
    "td_plan_counter_name": (TEXT, [P, c_int]),
    "td_batch_create": (STATUS_CODE, [P, P, POINTER(P)]),
    "td_batch_next": (STATUS_CODE, [P, P, POINTER(P)]),
    "td_batch_describe": (STATUS_CODE, [P, POINTER(BatchFacts)]),
    "td_batch_destroy": (None, [P]),
    "td_plan_estimates": (P, [P]),
    "td_estimates_row": (STATUS_CODE, [P, c_int, POINTER(PlanEstimate)]),
    "td_estimates_basis": (TEXT, [P]),
    "td_estimates_advice": (TEXT, [P, c_int]),
    "td_result_destroy": (None, [P]),
    "td_result_claims": (STATUS_CODE, [P, P, POINTER(TEXT)]),
    "td_result_kind": (c_int, [P]),
    "td_result_u32": (P, [P]),
    "td_result_f32": (P, [P]),
    "td_result_f64": (P, [P]),
    "td_result_u64": (P, [P]),
    "td_result_parents": (P, [P]),
    "td_result_edges": (P, [P, POINTER(c_uint64)]),
    "td_result_total_weight": (c_double, [P]),
    "td_result_converged": (c_bool, [P]),
    "td_result_iterations": (c_uint32, [P]),
    "td_result_iteration": (POINTER(Iteration), [P, c_uint32]),
    "td_result_resumed": (c_uint32, [P]),
    "td_result_edges_processed": (c_uint64, [P]),
    "td_result_device_row": (STATUS_CODE, [P, c_int, POINTER(DeviceRow)]),
    "td_result_device_opens": (c_uint32, [P]),
    "td_result_seconds": (c_double, [P]),
    "td_result_describe": (STATUS_CODE, [P, POINTER(ResultFacts)]),
    "td_result_summarise": (STATUS_CODE, [P, P, POINTER(Summary)]),
    "td_result_top": (STATUS_CODE, [P, P, c_uint64, P, P, POINTER(c_uint64)]),
    "td_result_save": (STATUS_CODE, [P, P, TEXT, TEXT]),
    "td_report_json": (STATUS_CODE, [P, P, P, P, POINTER(c_void_p)]),
    "td_page_html": (STATUS_CODE, [POINTER(POINTER(PageReport)), c_int, POINTER(c_void_p)]),
    "td_text_free": (None, [c_void_p]),
}
for _name, (_result, _arguments) in SIGNATURES.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments


def failure(status: int) -> Error:
    """The exception for a failed call of this thread."""
    message = lib.td_last_message().decode()
    refusal = lib.td_last_refusal().contents
    return EXCEPTIONS[STATUS[status]](
        message, resource=RESOURCES[refusal.resource], needed=refusal.needed, allowed=refusal.allowed,
        minimum_known=refusal.minimum_known, device=refusal.device.decode() or None,
        option=refusal.option.decode() or None, topics=refusal.topics.decode().split())


def check(status: int) -> None:
    if status:
        raise failure(status)


class Held:
    """A handle of the library, destroyed with the last of its users. It keeps what it needs itself."""

    __slots__ = ("value", "_destroy", "_needs")

    def __init__(self, value: int, destroy, *needs):
        self.value, self._destroy, self._needs = value, destroy, needs

    def __del__(self):
        self._destroy(self.value)


def texts(call, *first) -> list[str]:
    """The names that a numbered call lists."""
    found: list[str] = []
    while (name := call(*first, len(found))) is not None:
        found.append(name.decode())
    return found


version: str = lib.td_version().decode()
