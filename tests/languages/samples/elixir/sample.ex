defmodule Shop.Cart do
  @moduledoc """
  A cart holds the items that a customer is about to buy.
  """

  use GenServer
  alias Shop.{Item, Price}
  alias Shop.Repo
  import Ecto.Query, only: [from: 2]
  require Logger

  @behaviour Shop.Storage

  @timeout 5_000
  @currencies ~w(eur usd)a

  @typedoc "A cart by its owner."
  @type t :: %__MODULE__{owner: String.t(), items: [Item.t()]}
  @typep key(a) :: {atom(), a}

  defstruct owner: nil, items: []

  @callback load(id :: term()) :: {:ok, t()} | :error

  @doc """
  Starts a cart for a customer.

  Options are passed on to the server.
  """
  @spec start_link(String.t(), keyword()) :: GenServer.on_start()
  def start_link(owner, opts \\ []) do
    GenServer.start_link(__MODULE__, owner, opts)
  end

  @doc "The price of everything in the cart."
  def total(%__MODULE__{items: []}), do: 0

  def total(%__MODULE__{items: items}) when is_list(items) do
    items |> Enum.map(&Price.of/1) |> Enum.sum()
  end

  # Only known currencies have a symbol.
  defp symbol(:eur), do: "€"
  defp symbol(currency) when currency in @currencies, do: "$"

  defp empty? do
    true
  end

  @impl true
  def init(owner) do
    Logger.info("cart opened")
    state = %__MODULE__{owner: owner}
    {:ok, state, @timeout}
  end

  @doc false
  defguard is_cart(value) when is_struct(value, __MODULE__)

  @doc "Logs how long a block took."
  defmacro timed(do: block) do
    quote do
      started = System.monotonic_time()
      result = unquote(block)
      Logger.debug(started)
      result
    end
  end

  defdelegate fetch(id), to: Repo
end

defprotocol Shop.Printable do
  @doc "A line for the receipt."
  def line(thing)
end

defimpl Shop.Printable, for: Shop.Item do
  def line(item), do: format(item.name)

  defp format(name), do: String.trim(name)
end

defmodule Shop.Error do
  defexception [:message]
end

defmodule Shop.CartTest do
  use ExUnit.Case

  describe "total/1" do
    test "is zero for an empty cart" do
      assert Shop.Cart.total(%Shop.Cart{}) == 0
    end
  end
end
