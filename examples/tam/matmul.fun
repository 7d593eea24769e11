; Two matrices of 4 n by 4 n floats are multiplied and the product is taken from a third, A[i,j] = i + j, B[i,j] = i - 2 j, C[i,j] = i j; each row of 4 by
; 4 blocks on a node of its own. Gives the sum of all elements.
;   pointsman tam examples/tam/matmul.fun 2 --nodes 4
(define (main n)
  (let ((size (* 4 n)) (a (array (* size size))) (b (array (* size size))))
    (begin
      (loop ((k 0 (let ((i (/ k size)) (j (mod k size)))
                    (begin (put a k (float (+ i j))) (put b k (float (- i (* 2 j)))) (+ k 1)))))
            (< k (* size size)) k)
      (rows a b n 0 n))))

(define (rows a b n from to)
  (if (= (+ from 1) to)
      (at from (row a b n from))
      (let ((middle (/ (+ from to) 2))) (+ (rows a b n from middle) (rows a b n middle to)))))

(define (row a b n i)
  (loop ((j 0 (+ j 1)) (sum 0.0 (+ sum (block a b n i j)))) (< j n) sum))

; The sum of a block: for each of its columns one of four elements.
(define (block a b n i j)
  (loop ((c 0 (+ c 1)) (sum 0.0 (+ sum (four a b (* 4 n) (* 4 i) (+ (* 4 j) c))))) (< c 4) sum))

; Four elements of a column.
(define (four a b size i j)
  (let ((r0 (* i size)) (r1 (+ r0 size)) (r2 (+ r1 size)) (r3 (+ r2 size)))
    (loop ((k 0 (+ k 4))
           (s0 (float (* i j)) (- s0 (dot a b (+ r0 k) (+ (* k size) j) size)))
           (s1 (float (* (+ i 1) j)) (- s1 (dot a b (+ r1 k) (+ (* k size) j) size)))
           (s2 (float (* (+ i 2) j)) (- s2 (dot a b (+ r2 k) (+ (* k size) j) size)))
           (s3 (float (* (+ i 3) j)) (- s3 (dot a b (+ r3 k) (+ (* k size) j) size))))
          (< k size)
          (+ s0 s1 s2 s3))))

(define (dot a b row column size)
  (+ (* (ref a row) (ref b column))
     (* (ref a (+ row 1)) (ref b (+ column size)))
     (* (ref a (+ row 2)) (ref b (+ column size size)))
     (* (ref a (+ row 3)) (ref b (+ column size size size)))))
