import NIOCore

/// Determines how to complete an Ogg file of this program that was never closed: after its last complete page it needs
/// one that ends the stream.
package struct OggRepair {
  /// Examines a file.
  package static func examine(_ source: any ByteSource) throws(RoomRecorder.StorageError) -> RepairAnalysis {
    guard
      let first = try page(of: source, at: 0), first.isFirst, first.body.starts(with: "OpusHead"),
      let second = try page(of: source, at: Int64(first.length)), second.serial == first.serial,
      second.body.starts(with: OpusHeader.comments)
    else { return .refused("is an Ogg file, but not a recording of this program") }
    var position = Int64(first.length + second.length)
    var last: (end: Int64, page: OggPage)?
    var granule: Int64 = -1
    var searched = 0
    while last?.page.isLast != true {
      guard let page = try page(of: source, at: position), page.serial == first.serial, !page.isFirst else {
        // Damage in the middle stays as it is; players find the next page, too.
        let next = try findPage(in: source, after: position, searched: &searched) {
          $0.serial == first.serial && !$0.isFirst
        }
        guard let next else { break }
        position = next
        continue
      }
      position += Int64(page.length)
      let endsWithPacket = page.endsWithPacket && page.granule >= 0
      if endsWithPacket { granule = page.granule }
      if endsWithPacket || page.isLast { last = (position, page) }
    }
    if searched > RepairAnalysis.maximumOffsets { return .tooDamaged }
    guard let last, granule >= 0 else { return .refused("contains no audio") }
    let duration = Duration(opusTicks: max(0, granule - Int64(OpusHeader.preSkip)))
    if last.page.isLast {
      if last.end == source.size { return .intact(duration) }
      if try findPage(in: source, after: last.end - 1, searched: &searched, where: { _ in true }) != nil {
        return .hasTrailingData
      }
      return .repairable(RepairPlan(truncation: last.end, duration: duration))
    }
    // Another recording may have been appended.
    let another = try findPage(in: source, after: last.end - 1, searched: &searched) {
      $0.serial != first.serial || $0.isFirst
    }
    if another != nil { return .hasTrailingData }
    if searched > RepairAnalysis.maximumOffsets { return .tooDamaged }
    let end = FileWrite(offset: last.end, bytes: last.page.end.bytes)
    return .repairable(RepairPlan(truncation: last.end, stages: [[end]], duration: duration))
  }

  /// Returns the number of audio packets in a file of this program, except those that fill gaps; nil for any other
  /// file.
  package static func packets(in source: any ByteSource) throws(RoomRecorder.StorageError) -> UInt64? {
    guard let first = try page(of: source, at: 0), first.isFirst,
      let second = try page(of: source, at: Int64(first.length)), second.serial == first.serial
    else { return nil }
    var position = Int64(first.length + second.length)
    var count: UInt64 = 0
    var searched = 0
    while true {
      guard let page = try page(of: source, at: position), page.serial == first.serial else {
        let next = try findPage(in: source, after: position, searched: &searched) {
          $0.serial == first.serial && !$0.isFirst
        }
        guard let next else { break }
        position = next
        continue
      }
      position += Int64(page.length)
      count += packets(on: page)
      if page.isLast { break }
    }
    return count
  }

  /// Returns the number of audio packets that end on a page.
  private static func packets(on page: OggPage) -> UInt64 {
    var body = page.body
    var count: UInt64 = 0
    var length = 0
    for piece in page.lacing {
      length += Int(piece)
      if piece == 255 { continue }
      if let packet = body.readSlice(length: length), !OpusGap.isFiller(packet) { count += 1 }
      length = 0
    }
    return count
  }

  private static func page(of source: any ByteSource, at offset: Int64) throws(RoomRecorder.StorageError) -> OggPage? {
    guard offset < source.size else { return nil }
    return OggPage(parsing: try source.read(at: offset, count: OggPage.maximumLength))
  }

  /// Returns the offset of the next complete page that matches.
  ///
  /// - Parameter searched: the number of offsets so far that looked like a page.
  private static func findPage(
    in source: any ByteSource, after offset: Int64, searched: inout Int, where matches: (OggPage) -> Bool
  ) throws(RoomRecorder.StorageError) -> Int64? {
    var search = ByteSearch(for: Array("OggS".utf8), in: source, from: offset + 1)
    while searched <= RepairAnalysis.maximumOffsets, let position = try search.next() {
      searched += 1
      if let page = try page(of: source, at: position), matches(page) { return position }
    }
    return nil
  }
}

extension ByteBuffer {
  fileprivate func starts(with text: String) -> Bool { readableBytesView.starts(with: text.utf8) }
  fileprivate func starts(with other: ByteBuffer) -> Bool { readableBytesView.starts(with: other.readableBytesView) }
}
