#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

td_status td_parse_u64(const char *text, uint64_t *out)
{
    if (!isdigit((unsigned char)*text)) return td_fail(TD_INVALID, "'%s' is not a whole number", text);
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end != '\0') return td_fail(TD_INVALID, "'%s' is not a whole number", text);
    if (errno == ERANGE) return td_fail(TD_LIMIT, "%s is above 2^64-1", text);
    *out = value;
    return TD_OK;
}

td_status td_parse_double(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)*text))
        return td_fail(TD_INVALID, "'%s' is not a number", text);
    if (!isfinite(value)) return td_fail(TD_INVALID, "'%s' is not a finite number", text);
    *out = value;
    return TD_OK;
}

/* Splits "1.5G", or "1.5 GiB" as sizes are printed, into 1.5 and the unit. */
static td_status parse_quantity(const char *text, double *value, const char **unit)
{
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.') goto bad;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value)) goto bad;
    bool printed = end[0] == ' ' && isalpha((unsigned char)end[1]) && strcmp(end + 2, "iB") == 0;
    *unit = printed ? end + 1 : end;
    return TD_OK;
bad:
    return td_fail(TD_INVALID, "'%s' is not a size (examples: 4G, 512M, 65536)", text);
}

td_status td_parse_size(const char *text, uint64_t *out)
{
    static const char *const units[] = {"", "K", "M", "G", "T"};
    if (td_parse_u64(text, out) == TD_OK) return TD_OK;
    double value = 0;
    const char *unit = "";
    TD_CHECK(parse_quantity(text, &value, &unit));
    for (int i = 0; i < 5; i++) {
        size_t length = strlen(units[i]);
        if (strncasecmp(unit, units[i], length) != 0) continue;
        const char *rest = unit + length;
        if (*rest != '\0' && strcasecmp(rest, "B") != 0 && (i == 0 || strcasecmp(rest, "iB") != 0)) continue;
        double bytes = ldexp(value, 10 * i);
        if (bytes >= 0x1p63) return td_fail(TD_LIMIT, "size '%s' is too large", text);
        if (i == 0 && bytes != floor(bytes)) return td_fail(TD_INVALID, "'%s' is not a whole number", text);
        *out = (uint64_t)bytes;
        return TD_OK;
    }
    return td_fail(TD_INVALID, "'%s' is not a size (examples: 4G, 512M, 65536)", text);
}

td_status td_parse_size_or_share(const char *text, uint64_t whole, uint64_t *out)
{
    double value = 0;
    const char *unit = "";
    if (parse_quantity(text, &value, &unit) == TD_OK && strcmp(unit, "%") == 0) {
        double bytes = value / 100 * (double)whole;
        if (bytes >= 0x1p63) return td_fail(TD_LIMIT, "share '%s' is too large", text);
        *out = (uint64_t)bytes;
        return TD_OK;
    }
    td_status status = td_parse_size(text, out);
    if (status != TD_INVALID) return status;
    return td_fail(TD_INVALID, "'%s' is not a size or a share (examples: 4G, 512M, 65536, 25%%)", text);
}

/* Prints in the unit that gives a number below 1024: never "1024.0 KiB". */
static char *format(char buffer[TD_NUMBER_BYTES], uint64_t bytes, bool up)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    double value = (double)bytes;
    for (; value >= (unit == 0 ? 1024 : up ? 1023.9 : 1023.95) && unit < 6; unit++) value /= 1024;
    if (up && unit > 0) value = ceil(value * 10) / 10;
    snprintf(buffer, TD_NUMBER_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return buffer;
}

char *td_format_size(char buffer[TD_NUMBER_BYTES], uint64_t bytes) { return format(buffer, bytes, false); }
char *td_format_least(char buffer[TD_NUMBER_BYTES], uint64_t bytes) { return format(buffer, bytes, true); }

char *td_format_count(char buffer[TD_NUMBER_BYTES], uint64_t count)
{
    char digits[TD_NUMBER_BYTES];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}
