! Artificial diffusion of a two-dimensional flow, of the kind of ARTDIF in HYDRO2D: differences to both sides, their products, the update.
program diffusion
integer, parameter :: n = 160, m = 402
real, dimension(m, n) :: ro, en, vz, vr, fz, fr, gz, gr
real :: c
integer :: i, j
!hpf$ processors p(4, 4)
!hpf$ template plane(m, n)
!hpf$ align (i,j) with plane(i,j) :: ro, en, vz, vr, fz, fr, gz, gr
!hpf$ distribute plane(block, block) onto p
c = 0.125
do j = 2, n - 1
  do i = 2, m - 1
    gz(i,j) = abs(vz(i+1,j) - vz(i-1,j)) + abs(vr(i,j+1) - vr(i,j-1))
  end do
end do
do j = 2, n - 2
  do i = 2, m - 2
    fz(i,j) = c * (gz(i,j) + gz(i+1,j)) * (ro(i+1,j) - ro(i,j))
    fr(i,j) = c * (gz(i,j) + gz(i,j+1)) * (ro(i,j+1) - ro(i,j))
    gr(i,j) = c * (gz(i,j) + gz(i+1,j)) * (en(i+1,j) - en(i,j))
  end do
end do
do j = 3, n - 2
  do i = 3, m - 2
    ro(i,j) = ro(i,j) + fz(i,j) - fz(i-1,j) + fr(i,j) - fr(i,j-1)
    en(i,j) = en(i,j) + gr(i,j) - gr(i-1,j)
  end do
end do
end program
