from django.urls import include, path, re_path

from . import views
from .views import Profile

urlpatterns = [
    path("accounts/login/", views.log_in, name="login"),
    path("profile/<slug:name>", Profile.as_view()),
    re_path(r"^archive/(?P<year>[0-9]{4})/$", views.archive),
    path("blog/", include("blog.urls")),
]
