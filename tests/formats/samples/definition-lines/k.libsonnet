{ version:: '1.0' }
