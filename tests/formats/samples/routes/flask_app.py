from flask import Blueprint, Flask

app = Flask(__name__)
admin = Blueprint("admin", __name__, url_prefix="/admin")


@app.route("/login", methods=["GET", "POST"])
def login():
    return check(request)


@admin.route("/users/<int:user_id>")
def show_user(user_id):
    return cache.get("/users")


@app.get("/health")
@cached(60)
async def health():
    return "ok"


def check(request):
    return True
