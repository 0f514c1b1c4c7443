import S3
import TestSupport
import Testing

@Suite struct XMLReaderTests {
  private func read(_ text: String, _ limits: XMLReader.Limits = XMLReader.Limits()) throws -> XMLElement {
    try XMLReader.read(Array(text.utf8), within: limits)
  }

  @Test func elementsTextAndEntitiesAreRead() throws {
    let root = try read(
      """
      \u{FEFF}<?xml version="1.0" encoding="UTF-8"?>
      <!-- a comment with <tags> -->
      <s3:List xmlns:s3='urn:a>b' a="&undefined;">
        <Key> a&amp;b&#x20;&#99;<![CDATA[<&]]> </Key><Key/>
        <Empty x = "1"></Empty>
      </s3:List>

      """)
    #expect(root.name == "List")
    #expect(root.text(of: "Key") == "a&b c<&")
    #expect(root.all("Key").count == 2)
    #expect(root.text(of: "Empty") == "")
    #expect(root.text(of: "None") == nil)
  }

  @Test(arguments: [
    "", " ", "text", "<a>", "<a></b>", "<a/><b/>", "<a/>text", "<a", "<a b></a>", "<a b=c/>", "<a b=\"<\"/>", "<1/>",
    "<a:/>",
    "<a:b:c/>", "<a>&", "<a>&lt</a>", "<a>&nbsp;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#x110000;</a>",
    "<a>&#+65;</a>", "<a><![CDATA[</a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<a/ >", "</a>", "<é/>",
    "<a b=\"1\"c=\"2\"/>",
  ]) func damagedDocumentsAreRefused(_ text: String) {
    #expect(throws: XMLReader.Problem.self) { try read(text) }
  }

  @Test func whatIsTooLargeIsRefused() throws {
    var limits = XMLReader.Limits()
    limits.depth = 3
    limits.elements = 5
    limits.bytes = 100
    _ = try read("<a><b><c/></b></a>", limits)
    #expect(throws: XMLReader.Problem.tooLarge) { try read("<a><b><c><d/></c></b></a>", limits) }
    #expect(throws: XMLReader.Problem.tooLarge) { try read("<a><b/><b/><b/><b/><b/></a>", limits) }
    #expect(throws: XMLReader.Problem.tooLarge) {
      try read("<a>\(String(repeating: " ", count: 100))</a>", limits)
    }
  }

  @Test func textThatIsNotUTF8IsNoText() throws {
    let root = try XMLReader.read(Array("<a><b>".utf8) + [0xFF] + Array("</b></a>".utf8))
    #expect(root.text(of: "b") == nil)
  }

  @Test func noCutDocumentTraps() {
    let text = Array("<?xml version='1.0'?><a x=\"y\"><b>c&amp;&#65;<![CDATA[d]]></b><!-- e --></a>".utf8)
    for end in text.indices { _ = try? XMLReader.read(Array(text[..<end])) }
    #expect((try? XMLReader.read(text)) != nil)
  }
}
