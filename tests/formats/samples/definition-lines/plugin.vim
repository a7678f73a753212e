" Opens the list.
function! shop#open(name) abort
echo a:name
endfunction
command! -nargs=1 ShopOpen call shop#open(<args>)
