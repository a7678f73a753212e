module shop.cart;

class Cart
{
    /// Sums the prices.
    int total(int[] prices)
    {
        return prices[0];
    }
}
