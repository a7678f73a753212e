helm
