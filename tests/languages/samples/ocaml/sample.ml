(** Accounts and what can be done with them. *)

open Base
include Stdio.Printf

(** Money in cents. *)
type money = int

type 'a result = Ok of 'a | Error of string
and account = { owner : string; mutable balance : money }

exception Overdrawn of account

module type STORE = sig
  type t

  val find : t -> string -> account option
  val limit : int
end

module Memory : STORE = struct
  type t = (string, account) Hashtbl.t

  (* Looks an account up. *)
  let find store owner = Hashtbl.find store owner
  let limit = 100
end

module Make (S : STORE) = struct
  let balance store owner =
    match S.find store owner with
    | Some account -> account.balance
    | None -> 0
end

(** Puts money into an account. *)
let deposit account amount =
  let total = account.balance + amount in
  let helper x = x * 2 in
  account.balance <- helper total

let rec even n = n = 0 || odd (n - 1)

and odd n = n <> 0 && even (n - 1)

let withdraw : account -> money -> unit =
 fun account amount ->
  if amount > account.balance then raise (Overdrawn account)
  else deposit account (-amount)

let describe = function
  | Ok _ -> "fine"
  | Error message -> message

let max_accounts = 1_000
let first, second = (1, 2)
let ( |>> ) x f = List.map x ~f

external now : unit -> float = "caml_now"

class counter start =
  object (self)
    inherit base_counter
    val mutable count = start
    method increment = count <- count + 1
    method private reset () = self#set 0
  end

let () = printf "%d\n" (Memory.limit + max_accounts)
