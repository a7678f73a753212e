def log_in(request):
    pass


def archive(request, year):
    pass


class Profile:
    pass
