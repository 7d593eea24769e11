; A kernel of the kind of Gamteb: particles fly through a slab of 40 cells, one from each source cell in turn. In a cell a particle
; collides or not; a collision absorbs it, scatters it forwards or back, or, in the dense cells, splits it in two of half the weight. A light
; particle is killed by roulette. Gives how much weight (in 1/1024) was absorbed, leaked out on the left, and leaked out on the right, as
; absorbed 2^40 + left 2^20 + right.
;   pointsman tam examples/tam/gamteb.fun 20 1 --nodes 4
(define (main particles seed) (launch 0 particles seed))

; Halves of the particles on nodes of their own.
(define (launch from to seed)
  (if (= (+ from 1) to)
      (fly (mod from 20) 1 1024 (random (+ seed (* 7919 from))))
      (let ((middle (/ (+ from to) 2)))
        (+ (at (+ me (- to middle)) (launch from middle seed)) (launch middle to seed)))))

(define (random seed) (bit-and (+ (* seed 1103515245) 12345) 2147483647))

(define (fly cell way weight seed)
  (if (< cell 0)
      (shift-left weight 20)
      (if (>= cell 40)
          weight
          (let ((next (random seed)) (dense (and (>= cell 12) (< cell 20))))
            (if (< (mod (shift-right next 16) 100) (if dense 70 30))
                (collide cell way weight next dense)
                (fly (+ cell way) way weight next))))))

(define (collide cell way weight seed dense)
  (let ((next (random seed)) (dice (mod (shift-right next 16) 100)))
    (if (< dice 25)
        (shift-left weight 40)
        (if (< weight 64)
            (if (< dice 60) (shift-left weight 40) (fly (+ cell way) way weight next))
            (if (and dense (< dice 55))
                (+ (fly (+ cell way) way (/ weight 2) (random next))
                   (fly (- cell way) (- way) (- weight (/ weight 2)) (random (+ next 1))))
                (if (< dice 70)
                    (fly (+ cell way) way weight next)
                    (fly (- cell way) (- way) weight next)))))))
