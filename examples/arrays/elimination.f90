! Gaussian elimination without exchanges of rows, columns dealt out in turn: what benchmark 0022 of the HPF suite does.
program elimination
integer, parameter :: n = 16
real, dimension(n, n) :: a
real, dimension(n) :: f
integer :: i, j, k
!hpf$ processors p(4)
!hpf$ template columns(n, n)
!hpf$ align (i,j) with columns(i,j) :: a
!hpf$ distribute columns(*, cyclic) onto p
do i = 1, n
  do j = 1, n
    if (i == j) a(i,j) = a(i,j) + n
  end do
end do
do k = 1, n - 1
  do i = k + 1, n
    f(i) = a(i,k) / a(k,k)
  end do
  do j = k, n
    do i = k + 1, n
      a(i,j) = a(i,j) - f(i) * a(k,j)
    end do
  end do
end do
end program
