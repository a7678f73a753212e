const express = require('express');
const { listUsers } = require('./users');
const app = express();

app.get('/users', requireLogin, listUsers);
app.post('/users/:id/orders', async (req, res) => {
  const order = await placeOrder(req.params.id);
  res.json(order);
});
app.route('/cart').get(showCart).delete(requireLogin, clearCart);
app.listen(3000);

function showCart(req, res) {}
function clearCart(req, res) {}
function placeOrder(id) {}
