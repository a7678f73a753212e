-- Customers and what they buy.

CREATE SCHEMA shop;

CREATE TYPE shop.status AS ENUM ('open', 'paid', 'sent');

-- People who have an account.
CREATE TABLE IF NOT EXISTS shop.customers (
    id BIGINT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP DEFAULT now()
);

/* One row for each order. */
CREATE TABLE shop.orders (
    id BIGINT PRIMARY KEY,
    customer_id BIGINT NOT NULL REFERENCES shop.customers (id),
    total NUMERIC(10, 2)
);

CREATE SEQUENCE order_numbers;

CREATE UNIQUE INDEX customers_email ON shop.customers (email);

CREATE INDEX IF NOT EXISTS orders_customer ON shop.orders (customer_id);

-- What each customer has spent.
CREATE OR REPLACE VIEW spending AS
SELECT c.email, sum(o.total) AS spent
FROM shop.customers c
JOIN shop.orders o ON o.customer_id = c.id
GROUP BY c.email;

CREATE MATERIALIZED VIEW top_customers AS
SELECT email FROM spending WHERE spent > 1000;

-- The balance of one customer.
CREATE OR REPLACE FUNCTION shop.balance(customer bigint) RETURNS numeric AS $$
BEGIN
    RETURN 0;
END;
$$ LANGUAGE plpgsql;

CREATE TRIGGER orders_touch
    BEFORE UPDATE ON shop.orders
    FOR EACH ROW EXECUTE FUNCTION touch();

ALTER TABLE shop.orders ADD COLUMN note TEXT;

INSERT INTO shop.customers (id, email) VALUES (1, 'a@example.org');

SELECT shop.balance(id), lower(email) FROM shop.customers;
