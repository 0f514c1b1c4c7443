/// The media types that a browser assigns to files by their extension, for the header of a data URL.
enum FileMediaType {
  /// Returns the media type of an extension in lower case; `application/octet-stream` if it is not known.
  static func of(extension pathExtension: String) -> String {
    types[pathExtension] ?? "application/octet-stream"
  }

  private static let types: [String: String] = [
    "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "ico": "image/x-icon", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff",
    "webp": "image/webp",
    "aac": "audio/aac", "flac": "audio/flac", "m4a": "audio/mp4", "mp3": "audio/mpeg", "oga": "audio/ogg",
    "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "weba": "audio/webm",
    "m4v": "video/mp4", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp4": "video/mp4", "ogv": "video/ogg",
    "webm": "video/webm",
    "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "js": "text/javascript",
    "md": "text/markdown", "txt": "text/plain", "vtt": "text/vtt", "xml": "text/xml",
    "gz": "application/gzip", "json": "application/json", "pdf": "application/pdf", "zip": "application/zip",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ]
}
