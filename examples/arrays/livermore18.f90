! Two-dimensional explicit hydrodynamics, written after Livermore loop 18, on a 4 x 4 grid of processors.
program hydro
integer, parameter :: kn = 7, jn = 101
real, dimension(jn+1, kn+1) :: za, zb, zm, zp, zq, zr, zu, zv, zz
real :: s, t
integer :: j, k
!hpf$ processors p(4, 4)
!hpf$ template plane(jn+1, kn+1)
!hpf$ align (j,k) with plane(j,k) :: za, zb, zm, zp, zq, zr, zu, zv, zz
!hpf$ distribute plane(cyclic, cyclic) onto p
t = 0.0037
s = 0.0041
do k = 2, kn
  do j = 2, jn
    za(j,k) = (zp(j-1,k+1) + zq(j-1,k+1) - zp(j-1,k) - zq(j-1,k)) * (zr(j,k) + zr(j-1,k)) / (zm(j-1,k) + zm(j-1,k+1))
    zb(j,k) = (zp(j-1,k) + zq(j-1,k) - zp(j,k) - zq(j,k)) * (zr(j,k) + zr(j,k-1)) / (zm(j,k) + zm(j-1,k))
  end do
end do
do k = 2, kn
  do j = 2, jn
    zu(j,k) = zu(j,k) + s * (za(j,k) * (zz(j,k) - zz(j+1,k)) - za(j-1,k) * (zz(j,k) - zz(j-1,k)) &
      - zb(j,k) * (zz(j,k) - zz(j,k-1)) + zb(j,k+1) * (zz(j,k) - zz(j,k+1)))
    zv(j,k) = zv(j,k) + s * (za(j,k) * (zr(j,k) - zr(j+1,k)) - za(j-1,k) * (zr(j,k) - zr(j-1,k)) &
      - zb(j,k) * (zr(j,k) - zr(j,k-1)) + zb(j,k+1) * (zr(j,k) - zr(j,k+1)))
  end do
end do
do k = 2, kn
  do j = 2, jn
    zr(j,k) = zr(j,k) + t * zu(j,k)
    zz(j,k) = zz(j,k) + t * zv(j,k)
  end do
end do
end program
