(ns shop.core
  (:require [clojure.string :as str]))

;; The tax of a price.
(defn- tax [price]
  (* price 0.2))

(defmulti total :kind)
(defmethod total :cart [cart]
  (reduce + (:prices cart)))

(defrecord Item [name price])
(def ^:private limit 10)
