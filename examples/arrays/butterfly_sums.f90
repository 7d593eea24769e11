! Sums over all processors by exchanges along the axes of a hypercube, the pattern of TSCF: sums of the coefficients of a field.
program butterfly
integer, parameter :: m = 4
real, dimension(m, 0:1, 0:1, 0:1, 0:1) :: s, t
!hpf$ processors p(2, 2, 2, 2)
!hpf$ template cube(m, 0:1, 0:1, 0:1, 0:1)
!hpf$ align (c,i,j,k,l) with cube(c,i,j,k,l) :: s, t
!hpf$ distribute cube(*, block, block, block, block) onto p
t(:,0,:,:,:) = s(:,0,:,:,:) + s(:,1,:,:,:)
t(:,1,:,:,:) = s(:,0,:,:,:) + s(:,1,:,:,:)
s(:,:,0,:,:) = t(:,:,0,:,:) + t(:,:,1,:,:)
s(:,:,1,:,:) = t(:,:,0,:,:) + t(:,:,1,:,:)
t(:,:,:,0,:) = s(:,:,:,0,:) + s(:,:,:,1,:)
t(:,:,:,1,:) = s(:,:,:,0,:) + s(:,:,:,1,:)
s(:,:,:,:,0) = t(:,:,:,:,0) + t(:,:,:,:,1)
s(:,:,:,:,1) = t(:,:,:,:,0) + t(:,:,:,:,1)
end program
