enum ObjectStorePlaceholder {}
