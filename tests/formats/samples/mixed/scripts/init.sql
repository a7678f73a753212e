CREATE TABLE orders (id INT);
