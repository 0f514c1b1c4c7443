import Media
package import NIOCore

extension MatroskaHeader {
  /// A header that was read from a file.
  package struct Found: Sendable, Hashable {
    package var header: MatroskaHeader
    /// The offset at which the first cluster begins, or would begin.
    package var length: Int64
    /// Whether the tracks are described where this version does it, so that the bytes before them can be replaced.
    package var hasUsualOrder: Bool
    /// The segment's size according to its header; nil for “unknown”.
    package var segmentSize: Int64?
  }

  /// The maximum length of a header; longer than any that this program ever wrote.
  static let maximumLength: Int64 = 4_096

  /// Parses the header of a file that this program wrote; nil for any other file.
  ///
  /// - Parameter bytes: the file's first bytes, ``maximumLength`` of them if the file is long enough.
  package static func find(in bytes: ByteBuffer) -> Found? {
    var all = EBMLReader(bytes)
    guard
      let ebml = all.next(), ebml.head.is(.ebml),
      let documentType = text(.docType, in: ebml.content).flatMap(DocumentType.init),
      let area = bytes.getSlice(at: bytes.readerIndex + Int(segmentStart) - 12, length: 12),
      let segment = EBMLElementHeader(parsing: area), segment.is(.segment), segment.length == 12,
      let content = bytes.getSlice(
        at: bytes.readerIndex + Int(segmentStart), length: bytes.readableBytes - Int(segmentStart))
    else { return nil }
    var found = Found(
      header: MatroskaHeader(documentType: documentType, date: 0), length: segmentStart, hasUsualOrder: false,
      segmentSize: segment.size)
    var isOurs = false
    var isKnown = true
    for (head, element) in EBMLReader(content) {
      if head.is(.cluster) || head.is(.cues) { break }
      if head.is(.info) {
        isOurs = text(.writingApp, in: element) == "chatbot"
        found.header.read(info: element)
      }
      if head.is(.tracks) {
        isKnown = found.header.read(tracks: element)
        found.hasUsualOrder = found.length == tracksStart
      }
      found.length += Int64(head.length + element.readableBytes)
    }
    guard isOurs, isKnown, found.length <= maximumLength else { return nil }
    // A header in another order is replaced as a whole. A single byte cannot be filled by a void element.
    return found.hasUsualOrder || found.length == length || found.length > length + 1 ? found : nil
  }

  private mutating func read(info: ByteBuffer) {
    for (head, content) in EBMLReader(info) {
      if head.is(.dateUTC) { date = Int64(bitPattern: content.ebmlUnsigned) }
      if head.is(.duration), content.readableBytes == 8 { duration = Double(bitPattern: content.ebmlUnsigned) }
    }
  }

  /// - Returns: false if a track is of a codec that this version does not write.
  private mutating func read(tracks: ByteBuffer) -> Bool {
    for (head, entry) in EBMLReader(tracks) where head.is(.trackEntry) {
      let codecPrivate = Self.first(.codecPrivate, in: entry) ?? ByteBuffer()
      guard
        let codec = Self.text(.codecID, in: entry).flatMap({ Codec(matroska: $0, codecPrivate: codecPrivate) })
      else { return false }
      for (head, content) in EBMLReader(entry) {
        if head.is(.video) {
          let width = Self.unsigned(.pixelWidth, in: content), height = Self.unsigned(.pixelHeight, in: content)
          let size = VideoSize(width: Int(min(width, 65_535)), height: Int(min(height, 65_535)))
          video = Video(
            codec: codec, size: size, codecPrivate: Self.first(.codecPrivate, in: entry),
            orientation: Self.orientation(in: content))
        }
        if head.is(.audio) {
          audio = Audio(codec: codec, channels: Self.unsigned(.channels, in: content) == 2 ? 2 : 1)
        }
      }
    }
    return true
  }

  /// Reads what ``bytes`` contains of an orientation.
  private static func orientation(in video: ByteBuffer) -> VideoOrientation {
    guard let projection = first(.projection, in: video) else { return .upright }
    let roll = angle(.projectionPoseRoll, in: projection)
    let isMirrored = abs(angle(.projectionPoseYaw, in: projection)) == 180
    let clockwise = ((isMirrored ? roll : -roll) + 360) % 360
    return VideoOrientation(rotation: clockwise, isMirrored: isMirrored) ?? .upright
  }

  /// Returns an angle in degrees, -360 to 360; 0 for any other value.
  private static func angle(_ element: MatroskaElement, in projection: ByteBuffer) -> Int {
    guard let content = first(element, in: projection) else { return 0 }
    let value: Double =
      switch content.readableBytes {
      case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: content.ebmlUnsigned)))
      case 8: Double(bitPattern: content.ebmlUnsigned)
      default: 0
      }
    return abs(value) <= 360 ? Int(value) : 0
  }

  private static func first(_ element: MatroskaElement, in content: ByteBuffer) -> ByteBuffer? {
    for (head, value) in EBMLReader(content) where head.is(element) { return value }
    return nil
  }

  private static func text(_ element: MatroskaElement, in content: ByteBuffer) -> String? {
    first(element, in: content).map { String(buffer: $0) }
  }

  private static func unsigned(_ element: MatroskaElement, in content: ByteBuffer) -> UInt64 {
    first(element, in: content)?.ebmlUnsigned ?? 0
  }
}
