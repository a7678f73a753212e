using module ./Shop.psm1

Import-Module Pester
. ./helpers.ps1

$script:MaxTries = 3

<#
.SYNOPSIS
Copies a build to a server.
#>
function Copy-Build {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)]
        [string]$Server
    )
    $target = Join-Path $Server 'app'
    Copy-Item -Recurse build $target
    Write-Log "copied to $target"
}

# Writes a line to the log.
function Write-Log([string]$Line) {
    function Format-Line { return $Line.Trim() }
    Add-Content -Path log.txt -Value (Format-Line)
}

filter Select-Large {
    if ($_.Length -gt 10) { $_ }
}

# A server and its state.
class Server : Machine {
    [string]$Name
    [int]$Port = 80

    Server([string]$name) {
        $this.Name = $name
    }

    # Whether it answers.
    [bool] Ping([int]$timeout) {
        return Test-Connection $this.Name
    }

    static [Server] Local() {
        return [Server]::new('localhost')
    }
}

enum Level {
    Info
    Error = 2
}

Copy-Build -Server alpha
