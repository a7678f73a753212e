package com.example.build

import groovy.transform.CompileStatic
import java.nio.file.Path

/** Finds out which version a build has. */
@CompileStatic
class VersionFinder extends BaseFinder implements Finder {
    static final int MAX_LENGTH = 20
    private String prefix = "v"

    VersionFinder(String prefix) {
        this.prefix = prefix
    }

    /**
     * The version of a folder.
     */
    String find(Path folder) {
        String text = read(folder)
        return text.trim()
    }

    static boolean valid(String version) {
        return version.length() < MAX_LENGTH
    }
}

interface Finder {
    String find(Path folder)
}

enum Level { DEBUG, INFO }

// Says hello.
def greet(String who) {
    return "hello " + who
}

int twice(int n) {
    return n * 2
}

def finder = new VersionFinder("v")
