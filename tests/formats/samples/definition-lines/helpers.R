say = function(text) cat(text)
