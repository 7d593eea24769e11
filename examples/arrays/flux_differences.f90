! The right-hand side of five coupled equations, of the kind of ERHS in APPLU: fluxes and fourth differences along three axes.
program fluxes
integer, parameter :: n = 12, m = 5
real, dimension(m, n, n, n) :: u, rsd, flux
integer :: c, i, j, k
!hpf$ processors p(4, 4)
!hpf$ template cube(m, n, n, n)
!hpf$ align (c,i,j,k) with cube(c,i,j,k) :: u, rsd, flux
!hpf$ distribute cube(*, *, block, block) onto p
do k = 2, n - 1
  do j = 2, n - 1
    do i = 1, n
      do c = 1, m
        flux(c,i,j,k) = u(2,i,j,k) / u(1,i,j,k) * u(c,i,j,k)
      end do
    end do
    do i = 3, n - 2
      do c = 1, m
        rsd(c,i,j,k) = rsd(c,i,j,k) - 0.5 * (flux(c,i+1,j,k) - flux(c,i-1,j,k)) &
          - 0.25 * (u(c,i-2,j,k) - 4.0 * u(c,i-1,j,k) + 6.0 * u(c,i,j,k) - 4.0 * u(c,i+1,j,k) + u(c,i+2,j,k))
      end do
    end do
  end do
end do
do k = 2, n - 1
  do j = 1, n
    do i = 2, n - 1
      do c = 1, m
        flux(c,i,j,k) = u(3,i,j,k) / u(1,i,j,k) * u(c,i,j,k)
      end do
    end do
  end do
  do j = 3, n - 2
    do i = 2, n - 1
      do c = 1, m
        rsd(c,i,j,k) = rsd(c,i,j,k) - 0.5 * (flux(c,i,j+1,k) - flux(c,i,j-1,k)) &
          - 0.25 * (u(c,i,j-2,k) - 4.0 * u(c,i,j-1,k) + 6.0 * u(c,i,j,k) - 4.0 * u(c,i,j+1,k) + u(c,i,j+2,k))
      end do
    end do
  end do
end do
do k = 1, n
  do j = 2, n - 1
    do i = 2, n - 1
      do c = 1, m
        flux(c,i,j,k) = u(4,i,j,k) / u(1,i,j,k) * u(c,i,j,k)
      end do
    end do
  end do
end do
do k = 3, n - 2
  do j = 2, n - 1
    do i = 2, n - 1
      do c = 1, m
        rsd(c,i,j,k) = rsd(c,i,j,k) - 0.5 * (flux(c,i,j,k+1) - flux(c,i,j,k-1)) &
          - 0.25 * (u(c,i,j,k-2) - 4.0 * u(c,i,j,k-1) + 6.0 * u(c,i,j,k) - 4.0 * u(c,i,j,k+1) + u(c,i,j,k+2))
      end do
    end do
  end do
end do
end program
