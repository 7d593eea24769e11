! Shallow water on a torus, of the kind of SWIM: fluxes, the wrap around the edges, the step in time.
program water
integer, parameter :: n = 32, steps = 2
real, dimension(n+1, n+1) :: u, v, p, cu, cv, z, h, unew, vnew, pnew
real :: dt
integer :: i, j, step
!hpf$ processors q(4, 4)
!hpf$ template plane(n+1, n+1)
!hpf$ align (i,j) with plane(i,j) :: u, v, p, cu, cv, z, h, unew, vnew, pnew
!hpf$ distribute plane(block, block) onto q
dt = 0.01
do step = 1, steps
  do j = 1, n
    do i = 1, n
      cu(i+1,j) = 0.5 * (p(i+1,j) + p(i,j)) * u(i+1,j)
      cv(i,j+1) = 0.5 * (p(i,j+1) + p(i,j)) * v(i,j+1)
      z(i+1,j+1) = (v(i+1,j+1) - v(i,j+1) - u(i+1,j+1) + u(i+1,j)) / (p(i,j) + p(i+1,j) + p(i+1,j+1) + p(i,j+1))
      h(i,j) = p(i,j) + 0.25 * (u(i+1,j) * u(i+1,j) + u(i,j) * u(i,j) + v(i,j+1) * v(i,j+1) + v(i,j) * v(i,j))
    end do
  end do
  cu(1,1:n) = cu(n+1,1:n)
  cv(1:n,1) = cv(1:n,n+1)
  z(1,2:n+1) = z(n+1,2:n+1)
  h(n+1,1:n) = h(1,1:n)
  h(1:n,n+1) = h(1:n,1)
  do j = 1, n
    do i = 1, n
      unew(i+1,j) = u(i+1,j) + dt * (z(i+1,j+1) + z(i+1,j)) * (cv(i+1,j+1) + cv(i,j+1) + cv(i,j) + cv(i+1,j)) &
        - dt * (h(i+1,j) - h(i,j))
      vnew(i,j+1) = v(i,j+1) - dt * (z(i+1,j+1) + z(i,j+1)) * (cu(i+1,j+1) + cu(i,j+1) + cu(i,j) + cu(i+1,j)) &
        - dt * (h(i,j+1) - h(i,j))
      pnew(i,j) = p(i,j) - dt * (cu(i+1,j) - cu(i,j)) - dt * (cv(i,j+1) - cv(i,j))
    end do
  end do
  u(2:n+1,1:n) = unew(2:n+1,1:n)
  v(1:n,2:n+1) = vnew(1:n,2:n+1)
  p(1:n,1:n) = pnew(1:n,1:n)
end do
end program
