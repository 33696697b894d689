// What C++ sources given to load_inline see: a small torch::Tensor over memory that Python owns.
//
// The names are PyTorch's, so that a source written for its torch/extension.h compiles here too, as far as it uses
// pointers, sizes and strides. There are no operators: this is for kernels of one's own.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// ---- what crosses the border between Python and C++ -----------------------------------------------------------------

enum { TT_MAX_DIMS = 16 };
enum { TT_UINT8, TT_INT8, TT_INT16, TT_INT32, TT_INT64, TT_FLOAT32, TT_FLOAT64, TT_BOOL };
enum { TT_CPU, TT_CUDA };
enum { TT_NONE, TT_TENSOR, TT_DOUBLE, TT_INT, TT_BOOLEAN };

struct tt_tensor {
    void* data;
    int64_t id;                       // which of Python's arrays this is
    int64_t dim;
    int64_t sizes[TT_MAX_DIMS];
    int64_t strides[TT_MAX_DIMS];     // in elements
    int32_t dtype;
    int32_t device;                   // TT_CPU or TT_CUDA: where data lies
    int32_t is_zero;                  // of a tensor that is asked for: whether to fill it with zeros
};

struct tt_value {
    int32_t kind;
    tt_tensor tensor;
    double number;
    int64_t integer;
};

typedef int (*tt_allocate)(tt_tensor*);        // fills data, id and strides for what else it gets

namespace torch {

enum class ScalarType : int32_t { Byte, Char, Short, Int, Long, Float, Double, Bool };
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
                     kInt = ScalarType::Int, kLong = ScalarType::Long, kFloat = ScalarType::Float,
                     kDouble = ScalarType::Double, kBool = ScalarType::Bool, kFloat32 = kFloat, kFloat64 = kDouble,
                     kInt32 = kInt, kInt64 = kLong;

namespace detail {

inline thread_local tt_allocate allocate = nullptr;

template <typename T> constexpr ScalarType type_of();
template <> constexpr ScalarType type_of<uint8_t>() { return kByte; }
template <> constexpr ScalarType type_of<int8_t>() { return kChar; }
template <> constexpr ScalarType type_of<int16_t>() { return kShort; }
template <> constexpr ScalarType type_of<int32_t>() { return kInt; }
template <> constexpr ScalarType type_of<int64_t>() { return kLong; }
template <> constexpr ScalarType type_of<float>() { return kFloat; }
template <> constexpr ScalarType type_of<double>() { return kDouble; }
template <> constexpr ScalarType type_of<bool>() { return kBool; }

inline const char* name_of(ScalarType type) {
    static const char* names[] = {"Byte", "Char", "Short", "Int", "Long", "Float", "Double", "Bool"};
    return names[static_cast<int>(type)];
}

inline int64_t bytes_of(ScalarType type) {
    static const int64_t bytes[] = {1, 1, 2, 4, 8, 4, 8, 1};
    return bytes[static_cast<int>(type)];
}

template <typename... Parts> std::string joined(const Parts&... parts) {
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

}  // namespace detail

using IntArrayRef = std::vector<int64_t>;

// A tensor's elements by index: `a[i][j]`, with strides and without checks.
template <typename T, int N> class TensorAccessor {
public:
    TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data), sizes_(sizes), strides_(strides) {}
    TensorAccessor<T, N - 1> operator[](int64_t i) const {
        return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
    int64_t size(int64_t d) const { return sizes_[d]; }
private:
    T* data_;
    const int64_t* sizes_;
    const int64_t* strides_;
};

template <typename T> class TensorAccessor<T, 1> {
public:
    TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data), sizes_(sizes), strides_(strides) {}
    T& operator[](int64_t i) const { return data_[i * strides_[0]]; }
    int64_t size(int64_t) const { return sizes_[0]; }
private:
    T* data_;
    const int64_t* sizes_;
    const int64_t* strides_;
};

class Tensor {
public:
    Tensor() { std::memset(&held, 0, sizeof held); held.id = -1; }
    explicit Tensor(const tt_tensor& given) : held(given) {}

    int64_t dim() const { return held.dim; }
    int64_t size(int64_t d) const { return held.sizes[wrapped(d)]; }
    int64_t stride(int64_t d) const { return held.strides[wrapped(d)]; }
    IntArrayRef sizes() const { return IntArrayRef(held.sizes, held.sizes + held.dim); }
    IntArrayRef strides() const { return IntArrayRef(held.strides, held.strides + held.dim); }
    ScalarType scalar_type() const { return static_cast<ScalarType>(held.dtype); }
    ScalarType dtype() const { return scalar_type(); }
    bool defined() const { return held.id >= 0; }
    bool is_cuda() const { return held.device == TT_CUDA; }
    bool is_cpu() const { return !is_cuda(); }

    int64_t numel() const {
        int64_t count = 1;
        for (int64_t d = 0; d < held.dim; ++d) count *= held.sizes[d];
        return count;
    }

    bool is_contiguous() const {
        int64_t expected = 1;
        for (int64_t d = held.dim - 1; d >= 0; --d) {
            if (held.sizes[d] != 1 && held.strides[d] != expected) return false;
            expected *= held.sizes[d];
        }
        return true;
    }

    template <typename T> T* data_ptr() const {
        check_type(detail::type_of<T>());
        return static_cast<T*>(held.data);
    }

    template <typename T, int N> TensorAccessor<T, N> accessor() const {
        if (is_cuda()) throw std::runtime_error("accessor() of a CUDA tensor: the host cannot read its memory");
        check_type(detail::type_of<T>());
        if (held.dim != N)
            throw std::runtime_error(detail::joined("TensorAccessor expected ", N, " dims but tensor has ", held.dim));
        return TensorAccessor<T, N>(static_cast<T*>(held.data), held.sizes, held.strides);
    }

    Tensor contiguous() const;

    tt_tensor held;

private:
    int64_t wrapped(int64_t d) const {
        if (d < -held.dim || d >= held.dim)
            throw std::out_of_range(detail::joined("Dimension out of range (expected to be in range of [", -held.dim, ", ",
                                                   held.dim - 1, "], but got ", d, ")"));
        return d < 0 ? d + held.dim : d;
    }

    void check_type(ScalarType asked) const {
        if (asked != scalar_type())
            throw std::runtime_error(detail::joined("expected scalar type ", detail::name_of(asked), " but found ",
                                                    detail::name_of(scalar_type())));
    }
};

namespace detail {

inline Tensor made_by_python(const IntArrayRef& sizes, ScalarType type, int device, bool is_zero) {
    tt_tensor made;
    std::memset(&made, 0, sizeof made);
    if (sizes.size() > TT_MAX_DIMS) throw std::runtime_error("a tensor here has at most 16 dimensions");
    made.dim = static_cast<int64_t>(sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) made.sizes[d] = sizes[d];
    made.dtype = static_cast<int32_t>(type);
    made.device = device;
    made.is_zero = is_zero;
    if (allocate(&made)) throw std::runtime_error("no memory for a tensor");
    return Tensor(made);
}

}  // namespace detail

inline Tensor empty(const IntArrayRef& sizes, ScalarType type = kFloat) {
    return detail::made_by_python(sizes, type, TT_CPU, false);
}
inline Tensor zeros(const IntArrayRef& sizes, ScalarType type = kFloat) {
    return detail::made_by_python(sizes, type, TT_CPU, true);
}
inline Tensor empty_like(const Tensor& t) { return detail::made_by_python(t.sizes(), t.scalar_type(), t.held.device, false); }
inline Tensor zeros_like(const Tensor& t) { return detail::made_by_python(t.sizes(), t.scalar_type(), t.held.device, true); }

inline Tensor Tensor::contiguous() const {
    if (is_contiguous()) return *this;
    if (is_cuda()) throw std::runtime_error("contiguous() of a CUDA tensor: call it in Python, before the function");
    Tensor made = empty_like(*this);
    const int64_t bytes = detail::bytes_of(scalar_type()), count = numel();
    for (int64_t flat = 0; flat < count; ++flat) {
        int64_t rest = flat, offset = 0;
        for (int64_t d = held.dim - 1; d >= 0; --d) {
            offset += rest % held.sizes[d] * held.strides[d];
            rest /= held.sizes[d];
        }
        std::memcpy(static_cast<char*>(made.held.data) + flat * bytes, static_cast<const char*>(held.data) + offset * bytes,
                    static_cast<size_t>(bytes));
    }
    return made;
}

// ---- from values to arguments, and from results to values -----------------------------------------------------------

namespace detail {

template <typename T> T argument(const tt_value& value);
template <> inline Tensor argument<Tensor>(const tt_value& value) { return Tensor(value.tensor); }
template <> inline double argument<double>(const tt_value& value) { return value.number; }
template <> inline float argument<float>(const tt_value& value) { return static_cast<float>(value.number); }
template <> inline int64_t argument<int64_t>(const tt_value& value) { return value.integer; }
template <> inline int argument<int>(const tt_value& value) { return static_cast<int>(value.integer); }
template <> inline bool argument<bool>(const tt_value& value) { return value.integer != 0; }

inline int give(tt_value* out, const Tensor& t) { out[0].kind = TT_TENSOR; out[0].tensor = t.held; return 1; }
inline int give(tt_value* out, double x) { out[0].kind = TT_DOUBLE; out[0].number = x; return 1; }
inline int give(tt_value* out, float x) { return give(out, static_cast<double>(x)); }
inline int give(tt_value* out, int64_t n) { out[0].kind = TT_INT; out[0].integer = n; return 1; }
inline int give(tt_value* out, int n) { return give(out, static_cast<int64_t>(n)); }
inline int give(tt_value* out, bool b) { out[0].kind = TT_BOOLEAN; out[0].integer = b; return 1; }
inline int give(tt_value* out, const std::vector<Tensor>& many) {
    if (many.size() > 64) throw std::runtime_error("at most 64 tensors can be returned");
    for (size_t i = 0; i < many.size(); ++i) give(out + i, many[i]);
    return static_cast<int>(many.size()) + 1000;          // a list, even of one
}

template <typename T> struct plain { using type = T; };
template <typename T> struct plain<const T&> { using type = T; };
template <typename T> struct plain<T&> { using type = T; };
template <typename T> struct plain<const T> { using type = T; };

template <typename R, typename... A, size_t... I>
int call(R (*function)(A...), const tt_value* values, tt_value* out, std::index_sequence<I...>) {
    std::tuple<typename plain<A>::type...> arguments{argument<typename plain<A>::type>(values[I])...};
    if constexpr (std::is_void_v<R>) {
        function(std::get<I>(arguments)...);
        return 0;
    } else {
        return give(out, function(std::get<I>(arguments)...));
    }
}

// Returns how many results there are, or -1 with the message of an exception.
template <typename R, typename... A>
int guarded(R (*function)(A...), const tt_value* values, int count, tt_value* out, tt_allocate how, char* message, int room) {
    allocate = how;
    try {
        if (count != static_cast<int>(sizeof...(A)))
            throw std::invalid_argument(joined("takes ", sizeof...(A), " arguments, got ", count));
        return call(function, values, out, std::index_sequence_for<A...>{});
    } catch (const std::exception& error) {
        std::snprintf(message, static_cast<size_t>(room), "%s", error.what());
    } catch (...) {
        std::snprintf(message, static_cast<size_t>(room), "an exception that is no std::exception");
    }
    return -1;
}

// The kind of each parameter, for Python: t(ensor), d(ouble), i(nteger), b(ool).
template <typename T> constexpr char letter() {
    using P = typename plain<T>::type;
    if constexpr (std::is_same_v<P, Tensor>) return 't';
    else if constexpr (std::is_same_v<P, bool>) return 'b';
    else if constexpr (std::is_floating_point_v<P>) return 'd';
    else return 'i';
}

template <typename R, typename... A> const char* letters(R (*)(A...)) {
    static const char text[] = {letter<A>()..., 0};
    return text;
}

}  // namespace detail
}  // namespace torch

namespace at = torch;

#define TORCH_CHECK(condition, ...) \
    do { if (!(condition)) throw std::runtime_error(torch::detail::joined(__VA_ARGS__)); } while (0)

#define TT_EXPORT(name)                                                                                              \
    extern "C" int tt_call_##name(const tt_value* tt_values, int tt_count, tt_value* tt_out, tt_allocate tt_how,      \
                                  char* tt_message, int tt_room) {                                                    \
        return torch::detail::guarded(&::name, tt_values, tt_count, tt_out, tt_how, tt_message, tt_room);             \
    }                                                                                                                 \
    extern "C" const char* tt_letters_##name() { return torch::detail::letters(&::name); }
