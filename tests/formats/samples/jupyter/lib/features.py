def build_features(frame):
    return frame.dropna()
