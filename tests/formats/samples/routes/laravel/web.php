<?php
Route::get('/posts/{post}', [PostController::class, 'show']);
Route::post('posts', 'PostController@store');
