@echo off
call :compile
goto :eof

:compile
echo compiling
exit /b
