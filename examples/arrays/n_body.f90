! Forces between all bodies, which are in blocks: what benchmark 0025 of the HPF suite does. A body's own force on itself is 0.
program bodies
integer, parameter :: n = 32
real, dimension(n) :: x, m, f
integer :: i, j
!hpf$ processors p(4)
!hpf$ template line(n)
!hpf$ align (i) with line(i) :: x, m, f
!hpf$ distribute line(block) onto p
do i = 1, n
  f(i) = 0.0
end do
do i = 1, n
  do j = 1, n
    f(i) = f(i) + m(j) * (x(j) - x(i)) / (abs(x(j) - x(i)) ** 3 + 0.01)
  end do
end do
end program
