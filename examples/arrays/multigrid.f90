! Two levels of a multigrid cycle in three dimensions, of the kind of MGRID: residual, restriction, smoothing, interpolation.
program cycle3
integer, parameter :: m = 4, n = 2 * m
real, dimension(0:n+1, 0:n+1, 0:n+1) :: u, v, r
real, dimension(0:m, 0:m, 0:m) :: rc, uc
integer :: i, j, k
!hpf$ processors p(4, 4)
!hpf$ template cube(0:n+1, 0:n+1, 0:n+1)
!hpf$ align (i,j,k) with cube(i,j,k) :: u, v, r
!hpf$ align (i,j,k) with cube(2*i,2*j,2*k) :: rc, uc
!hpf$ distribute cube(*, block, block) onto p
do k = 1, n
  do j = 1, n
    do i = 1, n
      r(i,j,k) = v(i,j,k) - 6.0 * u(i,j,k) + u(i-1,j,k) + u(i+1,j,k) + u(i,j-1,k) + u(i,j+1,k) + u(i,j,k-1) + u(i,j,k+1)
    end do
  end do
end do
do k = 1, m - 1
  do j = 1, m - 1
    do i = 1, m - 1
      rc(i,j,k) = 0.5 * r(2*i,2*j,2*k) + 0.08 * (r(2*i-1,2*j,2*k) + r(2*i+1,2*j,2*k) + r(2*i,2*j-1,2*k) + r(2*i,2*j+1,2*k) &
        + r(2*i,2*j,2*k-1) + r(2*i,2*j,2*k+1))
    end do
  end do
end do
do k = 1, m - 1
  do j = 1, m - 1
    do i = 1, m - 1
      uc(i,j,k) = 0.2 * rc(i,j,k) + 0.04 * (rc(i-1,j,k) + rc(i+1,j,k) + rc(i,j-1,k) + rc(i,j+1,k) + rc(i,j,k-1) + rc(i,j,k+1))
    end do
  end do
end do
do k = 1, m - 1
  do j = 1, m - 1
    do i = 1, m - 1
      u(2*i,2*j,2*k) = u(2*i,2*j,2*k) + uc(i,j,k)
      u(2*i+1,2*j,2*k) = u(2*i+1,2*j,2*k) + 0.5 * (uc(i,j,k) + uc(i+1,j,k))
      u(2*i,2*j+1,2*k) = u(2*i,2*j+1,2*k) + 0.5 * (uc(i,j,k) + uc(i,j+1,k))
      u(2*i,2*j,2*k+1) = u(2*i,2*j,2*k+1) + 0.5 * (uc(i,j,k) + uc(i,j,k+1))
    end do
  end do
end do
end program
