#include <vector>
#include "shape.hpp"

#define SHAPE_API __attribute__((visibility("default")))
#define AREA(w, h) ((w) * (h))

using std::string;
using namespace geometry::detail;

namespace geometry {

// The ratio of a circle.
constexpr double PI = 3.14;
extern int counter;
static std::vector<int> cache;

enum class Color : unsigned char { Red, Green = 2 };

using Points = std::vector<Point>;
template <typename T> using Ptr = std::unique_ptr<T>;
typedef struct { int a; } Legacy;

template <typename T>
concept Drawable = requires(T t) { t.draw(); };

/// A thing with an area.
class Shape {
public:
    Shape() = default;
    explicit Shape(std::string name) : name_(std::move(name)) {}
    virtual ~Shape();

    /** How large it is. */
    virtual double area() const = 0;
    const std::string& name() const { return name_; }
    static Shape* create(int kind);
    Shape& operator=(const Shape& other) = delete;
    bool operator==(const Shape& other) const;
    operator bool() const { return true; }
    friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

    struct Visitor {
        virtual void visit(Shape& shape) = 0;
    };

    enum Kind { SQUARE, CIRCLE };

protected:
    std::string name_;
    static constexpr int LIMIT = 3;
    int width = 0, height = 0;
    std::function<void(int)> callback_;
    Shape* parent_ = nullptr;
};

template <typename T>
class Box : public Shape, private virtual detail::Base<T> {
public:
    // Puts a value in.
    template <typename U>
    void put(U&& value) {
        auto local = [&](int x) { return x; };
        items_.push_back(std::forward<U>(value));
        make<int>(local(1));
    }

    T get(int index) const noexcept;

private:
    std::vector<T> items_;
};

// Out of line.
Shape::~Shape() {
    delete parent_;
}

template <typename T>
T Box<T>::get(int index) const noexcept {
    return items_.at(index);
}

bool Shape::operator==(const Shape& other) const {
    return area() == other.area();
}

Shape* Shape::create(int kind) {
    return new Square(kind);
}

namespace {
int hidden(int x) {
    struct Local { int y; };
    return detail::helper(x);
}
}  // namespace

}  // namespace geometry

namespace geometry::io {
/* Reads one shape. */
template <>
inline Shape& read<Shape>(std::istream& in) {
    return *parse(in);
}
}  // namespace geometry::io

union Value {
    int i;
    float f;
};

struct Square final : geometry::Shape {
    using Shape::Shape;
    double area() const override;
};

double Square::area() const { return AREA(1, 2); }

static auto twice(int x) -> int { return 2 * x; }

extern "C" {
void shape_init(void);
int shape_main() { return 0; }
}

int main() {
    Shape* shape = geometry::Shape::create(1);
    shape->area();
    return 0;
}
