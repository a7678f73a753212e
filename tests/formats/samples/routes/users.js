exports.listUsers = function (req, res) {};
