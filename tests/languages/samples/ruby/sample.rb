# frozen_string_literal: true

require 'json'
require_relative "store/base"
autoload :Lazy, 'store/lazy'

# Tools for a shop.
module Shop
  VERSION = '1.0'
  Point = Struct.new(:x, :y) do
    def distance
      Math.sqrt(x * x)
    end
  end

  # Raised when the cart is full.
  class FullError < StandardError; end

  ##
  # What a customer wants to buy.
  class Cart < Store::Base
    include Enumerable
    extend Forwardable, Helpers
    prepend Logging

    LIMIT = 10
    @@count = 0

    # Where the items are.
    attr_reader :items, :owner
    attr_accessor :note

    # Makes an empty cart.
    def initialize(owner, limit: LIMIT)
      super()
      @items = []
      local = 1
    end

    def each(&block)
      @items.each(&block)
    end

    def <<(item)
      raise FullError, 'full' if full?

      @items << item
      self
    end

    def full? = @items.size >= LIMIT

    def total=(value)
      @total = value
    end

    class << self
      # Reads a cart.
      def load(path)
        JSON.parse(File.read(path))
      end
    end

    def self.open(path)
      new(path).tap { |cart| cart.note = 'x' }
    end

    private

    def [](index)
      helper = ->(x) { x + 1 }
      helper.call(index)
      Shop::Cart.new(self)
    end

    private def secret; end

    alias_method :size, :count
    alias length size
    delegate :first, to: :items

    define_method(:last) do
      items.last
    end
  end

  module_function

  def currency
    'EUR'
  end
end

class Shop::Order
  scope :recent, -> { where(open: true) }
  has_many :lines
end

def helper(*args)
  def inner; end
  puts args
end

task :build do
  helper 1
end
