! Numbers with the distribution of Gauss, by accepting some of pairs of random numbers, one behind the other: what benchmark 0009 of
! the HPF suite does. Where a number goes only a run knows, so the analysis takes all of the array.
program accept
integer, parameter :: n = 16
real, dimension(n) :: x, y, gauss
integer, dimension(n) :: seed
integer :: i, count
!hpf$ processors p(4)
!hpf$ template line(n)
!hpf$ align (i) with line(i) :: x, y, gauss, seed
!hpf$ distribute line(block) onto p
do i = 1, n
  seed(i) = mod(171 * (7 * i + 1), 30269)
  x(i) = 4.0 * seed(i) / 30269.0 - 2.0
  seed(i) = mod(171 * seed(i), 30269)
  y(i) = seed(i) / 30269.0
end do
count = 0
do i = 1, n
  if (y(i) < exp(-0.5 * x(i) * x(i))) then
    count = count + 1
    gauss(count) = x(i)
  end if
end do
end program
