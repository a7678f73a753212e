;;; shop.el --- a shop
(defcustom shop-limit 10
  "How many items.")

(defun shop-total (items)
  "Sum ITEMS."
  (apply #'+ items))
