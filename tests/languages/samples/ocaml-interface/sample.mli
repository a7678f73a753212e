(** Accounts and what can be done with them. *)

open Base
include Comparable.S

(** Money in cents. *)
type money = int

type t

exception Overdrawn of t

(** Puts money into an account.
    The amount must not be negative. *)
val deposit : t -> money -> unit

val max_accounts : int
val names : string list
val ( |>> ) : 'a list -> ('a -> 'b) -> 'b list

module type STORE = sig
  type store

  val find : store -> string -> t option
end

(* Keeps everything in memory. *)
module Memory : STORE

module Log : sig
  val write : string -> unit
end

external now : unit -> float = "caml_now"

class type counter = object
  method increment : unit
end
