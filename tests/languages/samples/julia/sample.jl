"""
    Shapes

Areas of simple shapes.
"""
module Shapes

using LinearAlgebra, Statistics.Tests
using Printf: @printf
import Base.show

export area, Circle

include("helpers.jl")

# The tolerance of comparisons.
const EPSILON = 1e-9
const Pair2{T} = Tuple{T,T}
default_unit = "cm"

"Anything with an area."
abstract type Shape end

primitive type Byte8 8 end

struct Circle <: Shape
    radius::Float64

    Circle(r) = new(abs(r))
end

mutable struct Polygon{T<:Real} <: Shape
    points::Vector{T}
end

Base.@kwdef struct Options
    verbose::Bool = false
end

@enum Colour red green blue

"""
    area(shape)

The area of a shape.
"""
function area(c::Circle)
    local_value = c.radius^2
    return pi * local_value
end

area(p::Polygon{T}) where {T} = sum(p.points)

function scale(s::T, factor=2)::T where T<:Shape
    square(x) = x * x
    return grow!(s, square(factor))
end

Base.show(io::IO, c::Circle) = print(io, "circle")

function Polygon{T}() where {T}
    Polygon{T}(T[])
end

#= Turns a shape
   around. =#
@inline function rotate(s::Shape)
    @assert area(s) >= 0
    rotate.(s.points)
end

macro twice(ex)
    return quote
        $(esc(ex))
        $(esc(ex))
    end
end

function forward end

end

@testset "areas" begin
    @test area(Circle(1)) > EPSILON
end
