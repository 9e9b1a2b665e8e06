#include "base/json_read.h"

#include "base/alloc.h"
#include "base/json.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Strings are decoded in place: what an escape stands for is never longer than the escape. */
typedef struct reader {
    char *text, *at, *end; /* *end is NUL */
    const char *name;
    locale_t plain; /* a decimal point, whatever the program's locale */
    td_json_value *values;
    uint32_t count, room;
    uint64_t line;
    int depth;
} reader;

static td_status wrong(const reader *self, const char *what)
{
    return td_fail(TD_FORMAT, "%s, line %" PRIu64 ": %s", self->name, self->line, what);
}

/* Lines end here alone: within a string a raw line end is refused. */
static void skip_blanks(reader *self)
{
    for (; *self->at == ' ' || *self->at == '\n' || *self->at == '\r' || *self->at == '\t'; self->at++)
        self->line += *self->at == '\n';
}

static td_status add_value(reader *self, const char *key, td_json_kind kind, uint32_t *index)
{
    if (self->count == self->room) {
        if (self->room >= UINT32_MAX / 2) return td_fail(TD_LIMIT, "%s has too many values", self->name);
        uint32_t room = self->room == 0 ? 1024 : self->room * 2;
        TD_CHECK(TD_RESIZE(&self->values, room, "values of a JSON text"));
        self->room = room;
    }
    *index = self->count++;
    self->values[*index] = (td_json_value){.key = key, .kind = kind};
    return TD_OK;
}

/* Strings. */

static bool take_hex(const char *p, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (digit < 0) return false;
        *out = *out * 16 + (uint32_t)digit;
    }
    return true;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int rest = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[rest] | c >> 6 * rest);
    while (rest-- > 0) *to++ = (char)(0x80 | (c >> 6 * rest & 0x3f));
    return to;
}

/* At the letter u: one code point, of two escapes where they are a pair. */
static td_status take_unicode(reader *self, char **to)
{
    uint32_t c, low;
    if (!take_hex(self->at + 1, &c)) return wrong(self, "\\u needs four hexadecimal digits");
    if (c == 0) return wrong(self, "a string with a NUL");
    self->at += 5;
    if (c >= 0xd800 && c < 0xe000) {
        bool pair = c < 0xdc00 && self->at[0] == '\\' && self->at[1] == 'u' && take_hex(self->at + 2, &low) &&
                    low >= 0xdc00 && low < 0xe000;
        if (!pair) return wrong(self, "half a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        self->at += 6;
    }
    *to = put_utf8(*to, c);
    return TD_OK;
}

static td_status take_escape(reader *self, char **to)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char letter = *++self->at;
    const char *found = letter != '\0' ? strchr(names, letter) : NULL;
    if (letter == 'u') return take_unicode(self, to);
    if (found == NULL) return wrong(self, "an escape that JSON does not have");
    *(*to)++ = meanings[found - names];
    self->at++;
    return TD_OK;
}

static td_status take_string(reader *self, const char **out)
{
    char *to = ++self->at;
    *out = to;
    while (*self->at != '"') {
        unsigned char c = (unsigned char)*self->at;
        if (c == '\\') {
            TD_CHECK(take_escape(self, &to));
            continue;
        }
        if (c < 0x20) return wrong(self, self->at >= self->end ? "the text ends within a string"
                                                               : "a control character in a string");
        int bytes = td_utf8_bytes((const unsigned char *)self->at);
        if (bytes == 0) return wrong(self, "bytes that are not UTF-8");
        memmove(to, self->at, (size_t)bytes);
        to += bytes;
        self->at += bytes;
    }
    self->at++;
    *to = '\0';
    return TD_OK;
}

/* Numbers and words. */

static bool digits(char **p)
{
    char *begin = *p;
    while (**p >= '0' && **p <= '9') (*p)++;
    return *p > begin;
}

/* The end of a number of JSON's grammar; NULL: it is none. */
static char *number_end(char *p)
{
    if (*p == '-') p++;
    bool zero = *p == '0';
    char *first = p;
    if (!digits(&p) || (zero && p > first + 1)) return NULL;
    if (*p == '.' && (p++, !digits(&p))) return NULL;
    if (*p == 'e' || *p == 'E') {
        p++;
        if (*p == '+' || *p == '-') p++;
        if (!digits(&p)) return NULL;
    }
    return p;
}

static td_status take_number(reader *self, const char *key)
{
    uint32_t index = 0;
    char *end = number_end(self->at);
    if (end == NULL) return wrong(self, "a value was expected");
    double number = strtod_l(self->at, NULL, self->plain);
    if (!isfinite(number)) return wrong(self, "a number that is too large");
    TD_CHECK(add_value(self, key, TD_JSON_NUMBER, &index));
    self->values[index].number = number;
    self->values[index].next = self->count;
    self->at = end;
    return TD_OK;
}

static td_status take_word(reader *self, const char *key, const char *word, td_json_kind kind)
{
    uint32_t index = 0;
    if (strncmp(self->at, word, strlen(word)) != 0) return wrong(self, "a value was expected");
    self->at += strlen(word);
    TD_CHECK(add_value(self, key, kind, &index));
    self->values[index].next = self->count;
    return TD_OK;
}

static td_status take_text(reader *self, const char *key)
{
    uint32_t index = 0;
    const char *text;
    TD_CHECK(take_string(self, &text));
    TD_CHECK(add_value(self, key, TD_JSON_STRING, &index));
    self->values[index].text = text;
    self->values[index].next = self->count;
    return TD_OK;
}

/* Arrays and objects. */

static td_status take_value(reader *self, const char *key);

/* Fails if the last member of the object has the key of an earlier one. */
static td_status check_key(const reader *self, uint32_t object, const char *key)
{
    enum { MOST_MEMBERS = 1024 }; /* which bounds the search */
    const td_json_value *values = self->values;
    uint32_t at = object + 1;
    if (values[object].count >= MOST_MEMBERS) return wrong(self, "an object of more than 1024 members");
    for (uint32_t i = 0; i < values[object].count; i++, at = values[at].next)
        if (strcmp(values[at].key, key) == 0) return wrong(self, "a key twice in one object");
    return TD_OK;
}

static td_status take_key(reader *self, uint32_t object, const char **key)
{
    if (*self->at != '"') return wrong(self, "a key was expected");
    TD_CHECK(take_string(self, key));
    TD_CHECK(check_key(self, object, *key));
    skip_blanks(self);
    if (*self->at != ':') return wrong(self, "a colon was expected");
    self->at++;
    return TD_OK;
}

static td_status take_elements(reader *self, uint32_t index, bool object, char close)
{
    const char *key = NULL;
    skip_blanks(self);
    for (bool first = true; *self->at != close; first = false) {
        if (!first && *self->at++ != ',') return self->at--, wrong(self, "a comma or the end was expected");
        skip_blanks(self);
        if (object) TD_CHECK(take_key(self, index, &key));
        TD_CHECK(take_value(self, key));
        self->values[index].count++;
        skip_blanks(self);
    }
    self->at++;
    return TD_OK;
}

static td_status take_group(reader *self, const char *key, bool object)
{
    uint32_t index = 0;
    if (++self->depth > TD_JSON_DEPTH) return wrong(self, "more than 32 levels");
    TD_CHECK(add_value(self, key, object ? TD_JSON_OBJECT : TD_JSON_ARRAY, &index));
    self->values[index].count = 0;
    self->at++;
    TD_CHECK(take_elements(self, index, object, object ? '}' : ']'));
    self->values[index].next = self->count;
    self->depth--;
    return TD_OK;
}

static td_status take_value(reader *self, const char *key)
{
    skip_blanks(self);
    switch (*self->at) {
    case '{': return take_group(self, key, true);
    case '[': return take_group(self, key, false);
    case '"': return take_text(self, key);
    case 't': return take_word(self, key, "true", TD_JSON_TRUE);
    case 'f': return take_word(self, key, "false", TD_JSON_FALSE);
    case 'n': return take_word(self, key, "null", TD_JSON_NULL);
    default: return take_number(self, key);
    }
}

static td_status take_all(reader *self)
{
    if (memchr(self->text, '\0', (size_t)(self->end - self->text)) != NULL)
        return td_fail(TD_FORMAT, "%s is no JSON text: it has a null byte", self->name);
    TD_CHECK(take_value(self, NULL));
    skip_blanks(self);
    if (self->at != self->end) return wrong(self, "something behind the end of the value");
    return TD_OK;
}

td_status td_json_read(td_json_tree *out, const char *text, uint64_t bytes, const char *name)
{
    td_status status = TD_OK;
    reader self = {.name = name, .line = 1};
    TD_TRY(TD_NEW(&self.text, bytes + 1, "a JSON text"));
    memcpy(self.text, text, bytes);
    self.at = self.text;
    self.end = self.text + bytes;
    *self.end = '\0';
    self.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (self.plain == (locale_t)0) TD_TRY(td_fail(TD_NO_MEMORY, "no memory for a locale"));
    TD_TRY(take_all(&self));
    *out = (td_json_tree){self.text, self.values, self.count};
done:
    if (self.plain != (locale_t)0) freelocale(self.plain);
    if (status != TD_OK) td_json_tree_free(&(td_json_tree){self.text, self.values, self.count});
    return status;
}

void td_json_tree_free(td_json_tree *tree)
{
    td_free(tree->text);
    td_free(tree->values);
    *tree = (td_json_tree){0};
}

const td_json_value *td_json_first(const td_json_value *parent)
{
    bool group = parent != NULL && (parent->kind == TD_JSON_ARRAY || parent->kind == TD_JSON_OBJECT);
    return group && parent->count > 0 ? parent + 1 : NULL;
}

const td_json_value *td_json_next(const td_json_tree *tree, const td_json_value *parent, const td_json_value *element)
{
    return element->next < parent->next ? &tree->values[element->next] : NULL;
}

const td_json_value *td_json_member(const td_json_tree *tree, const td_json_value *object, const char *key)
{
    if (object == NULL || object->kind != TD_JSON_OBJECT) return NULL;
    for (const td_json_value *at = td_json_first(object); at != NULL; at = td_json_next(tree, object, at))
        if (strcmp(at->key, key) == 0) return at;
    return NULL;
}
