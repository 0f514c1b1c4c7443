import CPNG

/// A small picture as PNG, by libpng.
enum PNGImage {
  /// - Parameter rgb: red, green and blue of each pixel, row by row.
  /// - Returns: nil when there are not as many bytes as the size says, the size is not one of a thumbnail, or libpng refuses.
  static func bytes(width: Int, height: Int, rgb: [UInt8]) -> [UInt8]? {
    guard (1...4096).contains(width), (1...4096).contains(height), rgb.count == 3 * width * height else { return nil }
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    image.width = png_uint_32(width)
    image.height = png_uint_32(height)
    image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
    // Twice the pixels hold every picture, also one of noise, and what stands around it.
    var size = png_alloc_size_t(2 * rgb.count + 4096)
    var isWritten = false
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      isWritten = png_image_write_to_memory(&image, buffer.baseAddress, &size, 0, rgb, png_int_32(3 * width), nil) != 0
      count = isWritten ? size : 0
    }
    return isWritten ? bytes : nil
  }
}
