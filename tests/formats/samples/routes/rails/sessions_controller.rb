class SessionsController
  def new; end

  def create; end
end
