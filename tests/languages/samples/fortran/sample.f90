module shapes
  use constants, only: pi
  implicit none
  type :: circle
    real :: r
  contains
    procedure :: area => circle_area
  end type
contains
  ! Area of a circle.
  function circle_area(this) result(a)
    class(circle), intent(in) :: this
    real :: a
    a = square(this%r) * pi
  end function
  subroutine show(c)
    call print_it(c)
  end subroutine show
end module shapes
program main
  use shapes
  call show(c)
end program
