package import NIOCore

/// Searching, adding and removing elements in the stored bytes.
extension RTPHeaderExtensions {
  /// The position of an element, as indices of `content`.
  struct Element {
    var id: UInt8
    var headerIndex: Int
    var valueIndex: Int
    var valueCount: Int

    var end: Int { valueIndex + valueCount }
  }

  private enum Form {
    case oneByte
    case twoByte
  }

  /// All elements with their values, in packet order.
  package var elements: [(id: UInt8, value: ByteBuffer)] {
    var found: [(id: UInt8, value: ByteBuffer)] = []
    var index = content.readerIndex
    while let element = nextElement(from: &index) {
      if let value = content.getSlice(at: element.valueIndex, length: element.valueCount) {
        found.append((element.id, value))
      }
    }
    return found
  }

  /// Returns the first element with an id.
  func element(_ id: UInt8) -> Element? {
    guard let form else { return nil }
    let start = content.readerIndex
    return content.withUnsafeReadableBytes { bytes in
      var index = 0
      while var element = Self.nextElement(of: bytes, form, from: &index) {
        guard element.id == id else { continue }
        element.headerIndex += start
        element.valueIndex += start
        return element
      }
      return nil
    }
  }

  /// Allocates an element with a value of `count` bytes and returns the index of the value, or nil when the extension
  /// cannot hold it.
  mutating func allocateElement(id: UInt8, count: Int) -> Int? {
    guard id > 0, count <= 255 else { return nil }
    if let element = element(id) {
      if element.valueCount == count { return element.valueIndex }
      remove(id)
    }
    let fitsOneByte = id < 15 && (1...16).contains(count)
    switch form {
    case nil:
      profile = fitsOneByte ? Self.oneByteProfile : Self.twoByteProfile
      content = ByteBuffer()
    case .oneByte where !fitsOneByte:
      widen()
    case .oneByte, .twoByte:
      content.moveWriterIndex(to: endOfElements)
    }
    if form == .oneByte {
      content.writeInteger(id << 4 | UInt8(truncatingIfNeeded: count - 1))
    } else {
      content.writeMultipleIntegers(id, UInt8(truncatingIfNeeded: count))
    }
    let index = content.writerIndex
    content.writeRepeatingByte(0, count: count)
    content.padToWord(since: content.readerIndex)
    return index
  }

  /// Removes every element with the id. The extension itself stays, even without elements.
  mutating func remove(_ id: UInt8) {
    guard element(id) != nil else { return }
    rebuild(as: profile ?? Self.oneByteProfile, leavingOut: id)
  }

  private var form: Form? {
    switch profile {
    case Self.oneByteProfile: .oneByte
    case .some(let profile) where profile & 0xFFF0 == Self.twoByteProfile: .twoByte
    default: nil
    }
  }

  private mutating func widen() {
    rebuild(as: Self.twoByteProfile, leavingOut: 0)
    content.moveWriterIndex(to: endOfElements)
  }

  private var endOfElements: Int {
    var index = content.readerIndex
    var end = index
    while let element = nextElement(from: &index) { end = element.end }
    return end
  }

  private mutating func rebuild(as newProfile: UInt16, leavingOut id: UInt8) {
    let kept = elements
    profile = newProfile
    content = ByteBuffer()
    for (keptID, value) in kept where keptID != id {
      if form == .oneByte {
        content.writeInteger(keptID << 4 | UInt8(truncatingIfNeeded: value.readableBytes - 1))
      } else {
        content.writeMultipleIntegers(keptID, UInt8(truncatingIfNeeded: value.readableBytes))
      }
      content.writeImmutableBuffer(value)
    }
    content.padToWord(since: content.readerIndex)
  }

  private func nextElement(from index: inout Int) -> Element? {
    guard let form else { return nil }
    let start = content.readerIndex
    return content.withUnsafeReadableBytes { bytes in
      var offset = index - start
      defer { index = offset + start }
      guard var element = Self.nextElement(of: bytes, form, from: &offset) else { return nil }
      element.headerIndex += start
      element.valueIndex += start
      return element
    }
  }

  /// Returns the element at or after `index`, skipping padding. Nil at the end and at an invalid element: a one-byte
  /// header with id 15, which ends the list (RFC 8285, 4.2), or with id 0 and a length, or a value that is cut off.
  private static func nextElement(of bytes: UnsafeRawBufferPointer, _ form: Form, from index: inout Int) -> Element? {
    while index < bytes.count {
      let header = bytes[index]
      if header == 0 {
        index += 1
        continue
      }
      let element: Element
      switch form {
      case .oneByte:
        let id = header >> 4
        guard (1...14).contains(id) else { return nil }
        element = Element(id: id, headerIndex: index, valueIndex: index + 1, valueCount: Int(header & 0x0F) + 1)
      case .twoByte:
        guard index + 1 < bytes.count else { return nil }
        element = Element(
          id: header, headerIndex: index, valueIndex: index + 2, valueCount: Int(bytes[index + 1]))
      }
      guard element.end <= bytes.count else { return nil }
      index = element.end
      return element
    }
    return nil
  }
}
