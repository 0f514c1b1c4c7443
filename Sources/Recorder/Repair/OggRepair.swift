import NIOCore

/// Finds out how an Ogg file of ours that was never closed becomes whole: its last whole page has to say that it is the last.
struct OggRepair {
  /// Looks at a file.
  static func examine(_ source: any ByteSource) throws(Recorder.DiskError) -> RepairFinding {
    guard
      let first = try page(of: source, at: 0), first.isFirst, first.body.starts(with: "OpusHead"),
      let second = try page(of: source, at: Int64(first.length)), second.serial == first.serial,
      second.body.starts(with: OpusHeader.comments)
    else { return .refused("is an Ogg file, but not a recording of this program's") }
    let headEnd = Int64(first.length + second.length)
    var place = headEnd
    var previous = second
    var last: (offset: Int64, page: OggPage)?
    while let page = try page(of: source, at: place) {
      guard page.serial == first.serial, page.sequence == previous.sequence &+ 1, !page.isFirst else { break }
      if page.endsWithPacket, page.granule >= 0 { last = (place, page) }
      place += Int64(page.length)
      previous = page
      if page.isLast { break }
    }
    guard let last else { return .refused("holds no sound") }
    let end = last.offset + Int64(last.page.length)
    let duration = Duration(opusTicks: max(0, last.page.granule - Int64(OpusHeader.preSkip)))
    if last.page.isLast, end == source.size { return .whole(duration) }
    // What changes lies within the page's head.
    let head = last.page.asLast.bytes.getSlice(at: 0, length: OggPage.headerLength) ?? ByteBuffer()
    return .mendable(
      RepairPlan(truncation: end, head: [FileWrite(offset: last.offset, bytes: head)], duration: duration))
  }

  private static func page(of source: any ByteSource, at offset: Int64) throws(Recorder.DiskError) -> OggPage? {
    guard offset < source.size else { return nil }
    return OggPage(parsing: try source.read(at: offset, count: OggPage.longest))
  }
}

extension ByteBuffer {
  fileprivate func starts(with text: String) -> Bool { readableBytesView.starts(with: text.utf8) }
  fileprivate func starts(with other: ByteBuffer) -> Bool { readableBytesView.starts(with: other.readableBytesView) }
}
