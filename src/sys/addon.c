/* The addon's door: what is exported, and the helpers that read arguments and make values. No state lives here. */
#include "addon.h"

void throw_errno(napi_env env, int error, const char *call) {
  napi_throw_error(env, uv_err_name(-error), call);
}

void throw_argument(napi_env env, const char *message) {
  napi_throw_type_error(env, "ERR_INVALID_ARG_TYPE", message);
}

bool check(napi_env env, napi_status status, const char *call) {
  if (status == napi_ok) return true;
  bool is_pending = false;
  if (napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending) napi_throw_error(env, "ERR_ADDON", call);
  return false;
}

bool read_double(napi_env env, napi_value value, const char *name, double *result) {
  if (napi_get_value_double(env, value, result) == napi_ok) return true;
  throw_argument(env, name);
  return false;
}

bool read_u32(napi_env env, napi_value value, uint32_t max, const char *name, uint32_t *result) {
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok || !(number >= 0 && number <= (double)max)) {
    throw_argument(env, name);
    return false;
  }
  *result = (uint32_t)number;
  return true;
}

bool read_bytes(napi_env env, napi_value value, const char *name, uint8_t **data, size_t *length) {
  bool is_typed_array = false;
  napi_typedarray_type type = napi_int8_array;
  void *start = NULL;
  if (napi_is_typedarray(env, value, &is_typed_array) != napi_ok || !is_typed_array ||
      napi_get_typedarray_info(env, value, &type, length, &start, NULL, NULL) != napi_ok || type != napi_uint8_array) {
    throw_argument(env, name);
    return false;
  }
  *data = start;
  return true;
}

bool read_function(napi_env env, napi_value value, const char *name, napi_ref *reference) {
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_function) {
    throw_argument(env, name);
    return false;
  }
  return check(env, napi_create_reference(env, value, 1, reference), "napi_create_reference");
}

bool read_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *arguments, napi_value *receiver) {
  size_t given = count;
  if (!check(env, napi_get_cb_info(env, info, &given, arguments, receiver, NULL), "napi_get_cb_info")) return false;
  if (given >= count) return true;
  throw_argument(env, "too few arguments");
  return false;
}

napi_value number_of(napi_env env, double value) {
  napi_value number = NULL;
  return check(env, napi_create_double(env, value, &number), "napi_create_double") ? number : NULL;
}

bool set_number(napi_env env, napi_value object, const char *name, double value) {
  napi_value number = number_of(env, value);
  return number != NULL && check(env, napi_set_named_property(env, object, name, number), "napi_set_named_property");
}

static bool add_array(napi_env env, napi_value object, const char *name, napi_typedarray_type type, size_t count,
                      size_t bytes, void **data) {
  napi_value buffer = NULL;
  napi_value array = NULL;
  return check(env, napi_create_arraybuffer(env, bytes, data, &buffer), "napi_create_arraybuffer") &&
         check(env, napi_create_typedarray(env, type, count, buffer, 0, &array), "napi_create_typedarray") &&
         check(env, napi_define_properties(env, object, 1,
                                           &(napi_property_descriptor){
                                               .utf8name = name, .value = array, .attributes = napi_enumerable}),
               "napi_define_properties");
}

bool add_bytes(napi_env env, napi_value object, const char *name, size_t length, uint8_t **data) {
  void *start = NULL;
  if (!add_array(env, object, name, napi_uint8_array, length, length, &start)) return false;
  *data = start;
  return true;
}

bool add_words(napi_env env, napi_value object, const char *name, size_t count, uint32_t **data) {
  void *start = NULL;
  if (!add_array(env, object, name, napi_uint32_array, count, count * sizeof **data, &start)) return false;
  *data = start;
  return true;
}

bool define_class(napi_env env, napi_value exports, const char *name, napi_callback constructor,
                  const napi_property_descriptor *methods, size_t count) {
  napi_value class = NULL;
  return check(env, napi_define_class(env, name, NAPI_AUTO_LENGTH, constructor, NULL, count, methods, &class),
               "napi_define_class") &&
         check(env, napi_set_named_property(env, exports, name, class), "napi_set_named_property");
}

bool require_new(napi_env env, napi_callback_info info) {
  napi_value target = NULL;
  if (!check(env, napi_get_new_target(env, info, &target), "napi_get_new_target")) return false;
  if (target != NULL) return true;
  throw_argument(env, "a class is called with new");
  return false;
}

NAPI_MODULE_INIT() {
  if (!init_clock(env, exports) || !init_packet(env, exports) || !init_netlink(env, exports) ||
      !init_groups(env, exports) || !init_rank(env, exports))
    return NULL;
  return exports;
}
