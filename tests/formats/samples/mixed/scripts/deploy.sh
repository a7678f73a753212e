#!/bin/bash
source ./lib.sh
say deploying
