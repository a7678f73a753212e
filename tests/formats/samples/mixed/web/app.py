from flask import Flask

app = Flask(__name__)


@app.post("/orders")
def create_order():
    return {}
