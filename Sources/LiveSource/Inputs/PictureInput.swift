import Codecs

/// Pictures that are pulled one after the other, from the start again after `rewind`. One thread uses it.
///
/// The three steps are apart so that pictures can be left out without being read, decoded or painted.
protocol PictureInput: AnyObject {
  /// When the next picture is to be shown, in units of `FileTime.rate` from the start of the round; nil at the end.
  func peek() throws(InputRefusal) -> Int64?

  /// Goes on to the picture that `peek` told of.
  func advance() throws(InputRefusal)

  /// The picture that `advance` went to; can be asked for more than once.
  func picture() throws(InputRefusal) -> Picture

  /// The picture that was asked for last has been sent, and was not left out.
  func pictureWasSent()

  /// What could not be decoded until now.
  var undecodable: Undecodable { get }

  /// Goes back to the start. The picture that `advance` went to stays until it goes on.
  func rewind() throws(InputRefusal)
}

extension PictureInput {
  func pictureWasSent() {}
  var undecodable: Undecodable { Undecodable() }
}
