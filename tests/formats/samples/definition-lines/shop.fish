# Greets.
function greet --argument name
    echo $name
end
