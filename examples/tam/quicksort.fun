; Quick sort of n numbers from a linear congruential generator, with lists that are put in front of others (accumulation lists): a pair is an
; I-structure of a number and the rest, no pair is 0. Gives how many neighbours are in order (n - 1 if all are).
;   pointsman tam examples/tam/quicksort.fun 20 1 --nodes 4
(define (main n seed) (in_order (sort (numbers n seed) 0 0)))

(define (pair first rest)
  (let ((made (array 2))) (begin (put made 0 first) (put made 1 rest) made)))

(define (numbers n seed)
  (loop ((i 0 (+ i 1))
         (seed seed (bit-and (+ (* seed 1103515245) 12345) 2147483647))
         (all 0 (pair (shift-right seed 16) all)))
        (< i n) all))

; The list in order, in front of ``behind``.
(define (sort all behind depth)
  (if (= all 0)
      behind
      (let ((pivot (ref all 0)) (rest (ref all 1))
            (higher (at (+ me depth 1) (sort (those rest pivot 0) behind (+ depth 1)))))
        (sort (those rest pivot 1) (pair pivot higher) (+ depth 1)))))

; The numbers below the pivot, or the others.
(define (those all pivot below)
  (loop ((rest all (ref rest 1))
         (found 0 (let ((x (ref rest 0))) (if (= (< x pivot) below) (pair x found) found))))
        (!= rest 0) found))

(define (in_order all)
  (loop ((rest (ref all 1) (ref rest 1))
         (last (ref all 0) (ref rest 0))
         (good 0 (+ good (<= last (ref rest 0)))))
        (!= rest 0) good))
